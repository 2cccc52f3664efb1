"""Whoever holds, works or answers at the cost of others."""

import ast
from typing import Final

from mutants.edit import constant, without
from mutants.fault import Fault, Function
from mutants.wrong import always, never, nothing_is_done
from turnwire.core.session_group import Member
from turnwire.core.steps import Steps, run_steps
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.v2.init import Ahead
from turnwire.relay.memory_budget import Budget, Holder
from turnwire.relay.rounds import Rounds, Work
from turnwire.web.server.http_protocol import HttpConnection


def the_newcomer_pays(_make_room: Function) -> Function:
    def wrong(self: Budget, requester: Holder) -> bool:
        return not self.is_spent(requester.user)

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
        return run_steps(steps)

    return wrong


def a_request_began(_take_request: Function) -> Function:
    def wrong(self: HttpConnection, data: bytes) -> bool:
        self._take(data)
        return True

    return wrong


def read_unseen(_read: Function) -> Function:
    """Nothing of what is asked of all entries is read ahead, in steps."""

    def wrong(self: Ahead, _preload: object = None) -> None:
        self._preload, self._entries = bool, None

    return wrong


def all_is_well(_missed: Function) -> Function:
    def wrong(outcome: Outcome | None, *, stalled: bool) -> Outcome | None:  # noqa: ARG001
        return outcome

    return wrong


def whoever_comes(claim: Function) -> Function:
    def wrong(self: Member, target_id: str) -> bool:
        claim(self, target_id)
        return True

    return wrong


_ROOM: Final = ("core/test_session_group.py",)

FAULTS: Final = (
    Fault(
        "whoever comes last pays for the memory of others",
        "turnwire.relay.memory_budget:Budget.make_room",
        the_newcomer_pays,
        ("relay/test_memory_budget.py",),
    ),
    Fault(
        "one user may take the memory of all",
        "turnwire.relay.memory_budget:Budget.is_spent",
        all_for_one,
        ("relay/test_memory_budget.py",),
    ),
    Fault(
        "what is left of a read is done before the others' turn",
        "turnwire.relay.rounds:Rounds.add",
        not_at_once,
        ("relay/test_rounds.py",),
    ),
    Fault(
        "a long body is read in one go",
        "turnwire.relay.rounds:run_in_slices",
        in_one_go,
        ("relay/test_rounds.py",),
    ),
    Fault(
        "however many come at once begin at once",
        "turnwire.relay.rounds:Door.is_open",
        always,
        ("relay/test_rounds.py",),
    ),
    Fault(
        "what begins nothing takes a place",
        "turnwire.web.server.http_protocol:HttpConnection._take_request",
        a_request_began,
        ("web/server/test_waiting_requests.py",),
    ),
    Fault(
        "what a hydration asks is read in one go",
        "turnwire.dialects.v2.init:Ahead.__init__",
        read_unseen,
        ("dialects/test_short_steps.py",),
    ),
    Fault(
        "an unfinished frame stays for ever",
        "turnwire.relay.agent.parked:Parked.is_overdue",
        never,
        ("relay/test_memory_budget.py",),
    ),
    Fault(
        "anybody answers whatever was asked of another",
        "turnwire.core.terms:Terms.admit",
        always,
        ("core/test_terms.py",),
    ),
    Fault(
        "an approval is answered without its signature",
        "turnwire.core.terms:Terms.rejection",
        nothing_is_done,
        ("core/test_terms.py",),
    ),
    Fault(
        "completed is said of what did not arrive",
        "turnwire.core.turn.outcome:undelivered_outcome",
        all_is_well,
        ("core/turn/test_outcome.py",),
    ),
    Fault(
        "a claim keeps nobody away",
        "turnwire.core.session_group:Member.claim",
        whoever_comes,
        _ROOM,
    ),
    Fault(
        "company goes unnoticed",
        "turnwire.core.session_group:Member.has_other_watchers",
        constant(1, 2),
        _ROOM,
    ),
    Fault(
        "whoever waits for the floor is not told",
        "turnwire.core.session_group:Member.release",
        without(ast.Expr, -1),
        _ROOM,
    ),
)
