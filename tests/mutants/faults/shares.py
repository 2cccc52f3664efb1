"""Whoever holds, works or answers at the cost of others."""

from typing import Final

from mutants.fault import Fault, Function
from turnwire.core.outcome import Outcome
from turnwire.core.steps import Steps, whole
from turnwire.core.terms import Terms
from turnwire.dialects.v2.hydration import Ahead
from turnwire.relay.budget import Budget, Holder
from turnwire.relay.rounds import Rounds, Work
from turnwire.web.http import HttpConnection


def the_newcomer_pays(_make_room: Function) -> Function:
    def wrong(self: Budget, asking: Holder) -> bool:
        return not self.is_spent(asking.user)

    return wrong


def all_for_one(_is_spent: Function) -> Function:
    def wrong(self: Budget, _user: object) -> bool:
        return self.held_bytes > self._most_bytes

    return wrong


def not_at_once(_add: Function) -> Function:
    def wrong(_self: Rounds, work: Work) -> None:
        while work():
            pass

    return wrong


def in_one_go(_done: Function) -> Function:
    async def wrong(_rounds: Rounds, steps: Steps[object]) -> object:
        return whole(steps)

    return wrong


def open_to_all(_is_open: Function) -> Function:
    return lambda _self: True


def a_request_began(_begins: Function) -> Function:
    def wrong(self: HttpConnection, data: bytes) -> bool:
        self._take(data)
        return True

    return wrong


def read_unseen(_read: Function) -> Function:
    """Nothing of what is asked of all entries is read ahead, in steps."""

    def wrong(self: Ahead, _look: object = None) -> None:
        self._look, self._read = bool, None

    return wrong


def everybody(_admit: Function) -> Function:
    def wrong(_self: Terms, _user_id: str, _asker: str | None) -> bool:
        return True

    return wrong


def any_answer(_refusal: Function) -> Function:
    return lambda *_args: None


def all_is_well(_missed: Function) -> Function:
    def wrong(outcome: Outcome | None, *, stalled: bool) -> Outcome | None:  # noqa: ARG001
        return outcome

    return wrong


def has_time(_is_overdue: Function) -> Function:
    return lambda *_args: False


FAULTS: Final = (
    Fault(
        "whoever comes last pays for the memory of others",
        "turnwire.relay.budget:Budget.make_room",
        the_newcomer_pays,
        ("relay/test_budget.py",),
    ),
    Fault(
        "one user may take the memory of all",
        "turnwire.relay.budget:Budget.is_spent",
        all_for_one,
        ("relay/test_budget.py",),
    ),
    Fault(
        "what is left of a read is done before the others' turn",
        "turnwire.relay.rounds:Rounds.add",
        not_at_once,
        ("relay/test_rounds.py",),
    ),
    Fault(
        "a long body is read in one go",
        "turnwire.relay.rounds:done",
        in_one_go,
        ("relay/test_rounds.py",),
    ),
    Fault(
        "however many come at once begin at once",
        "turnwire.relay.rounds:Door.is_open",
        open_to_all,
        ("relay/test_rounds.py",),
    ),
    Fault(
        "what begins nothing takes a place",
        "turnwire.web.http:HttpConnection._begins",
        a_request_began,
        ("web/test_waiting_requests.py",),
    ),
    Fault(
        "what a hydration asks is read in one go",
        "turnwire.dialects.v2.hydration:Ahead.__init__",
        read_unseen,
        ("dialects/test_short_steps.py",),
    ),
    Fault(
        "an unfinished frame stays for ever",
        "turnwire.relay.parked:Parked.is_overdue",
        has_time,
        ("relay/test_budget.py",),
    ),
    Fault(
        "anybody answers whatever was asked of another",
        "turnwire.core.terms:Terms.admit",
        everybody,
        ("core/test_terms.py",),
    ),
    Fault(
        "an approval is answered without its signature",
        "turnwire.core.terms:Terms.refusal",
        any_answer,
        ("core/test_terms.py",),
    ),
    Fault(
        "completed is said of what did not arrive",
        "turnwire.core.outcome:missed",
        all_is_well,
        ("core/test_outcome.py",),
    ),
)
