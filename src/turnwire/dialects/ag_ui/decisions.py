"""Decisions: how LangChain's `HumanInTheLoopMiddleware` asks whether calls may run.

One interrupt of it is about all calls that wait, and takes a list with one decision for each, in
the order of its `action_requests`. In its mode `per_call` an interrupt is about one call, and takes
one decision. An agent that gets another answer cannot go on, and its chat is lost. So no other
answer is sent, and a call that has no yes is rejected.

The id of a question says which decisions its answer is. So an answer can be sent although nobody
kept the question:

    decision:0/2:i1    the first of the two decisions that the interrupt `i1` wants
    decision:all/2:i1  both of them, by one answer
    decision:alone:i1  the decision that the interrupt `i1` wants about the call that it names
    decision:any:i1    the decision that the interrupt `i1` wants, which names no call
"""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import FEW, ID_MAX, OPEN_QUESTIONS_MAX, HandedOn, SomeId
from turnwire.core.wire import lenient

APPROVE: Final = "approve"
REJECT: Final = "reject"
OPTIONS: Final = Raw(b'["approve","deny"]')
"""What is offered where one answer is about several calls, or about a call that is not known."""

INPUT_SHOWN_MAX: Final = 1_000
"""Most characters of an input in the text of a question."""

PREFIX: Final = "decision:"
"""How the ids of these questions begin."""

_PREFIX_MAX: Final = len("decision:all/64:")
_ASKED: Final = re.compile(r"decision:(?:(all|[0-9]{1,2})/([0-9]{1,2})|alone|any):(.+)", re.DOTALL)
_ALONE: Final = "alone"
_ANY: Final = "any"
_ALL: Final = "all"
_YES: Final = frozenset({b"true", b'"approve"'})
_WORDS: Final = {APPROVE: True, REJECT: False}
_NO: Final = frozenset({b"false", b'"deny"', b'"reject"'})


class About(Struct, frozen=True):
    """What a question is about: a call, or several that are the same."""

    call_ids: Sequence[str]
    is_sure: bool = True
    """Whether it is about all of these calls. Else it may be about any of them, or about none."""


class Action(Struct, frozen=True):
    """A call that waits for a decision."""

    name: str
    input: Raw
    description: str

    @property
    def text(self) -> str:
        """What its user is asked at its card."""
        return self.description or self._shown

    @property
    def whole_text(self) -> str:
        """What its user is asked where no card shows it."""
        return "\n".join(filter(None, (self.description, self._shown)))

    @property
    def _shown(self) -> str:
        whole = bytes(self.input).decode(errors="replace")
        if len(whole) <= INPUT_SHOWN_MAX:
            return f"{self.name} {whole}"
        cut = f"cut: these are the first {INPUT_SHOWN_MAX:,} of {len(whole):,} characters"
        return f"{self.name} {whole[:INPUT_SHOWN_MAX]}… ({cut})"


class Actions(Struct, frozen=True):
    """What one interrupt is about."""

    calls: Sequence[Action]
    call_id: str | None = None
    """The call of an interrupt that is about one call, and names it."""
    is_list: bool = True
    """Whether the agent wants a list of decisions."""

    @property
    def whole_text(self) -> str:
        """What is asked by one question about all calls."""
        return "\n\n".join(each.whole_text for each in self.calls)

    def question_id(self, interrupt_id: str, place: int | None = None) -> str:
        """The id of the question about the call at this place; None: about all of them."""
        if not self.is_list:
            return f"{PREFIX}{_ANY if self.call_id is None else _ALONE}:{interrupt_id}"
        which = _ALL if place is None else place
        return f"{PREFIX}{which}/{len(self.calls)}:{interrupt_id}"


class Decisions:
    """The answers to interrupts of this kind, as the agent wants them."""

    def __init__(self) -> None:
        self._whole: dict[str, Raw] = {}
        self._lists: dict[str, list[_Decision]] = {}

    def take(self, question_id: str, answer: Raw) -> bool:
        """Take an answer, if the id of its question is one of these."""
        asked = _ASKED.fullmatch(question_id)
        if asked is None:
            return False
        place, count, interrupt_id = asked.groups()
        if place is None:
            self._whole[interrupt_id] = _encoded(_decision(answer))
        elif place == _ALL:
            self._whole[interrupt_id] = _for_all(answer, int(count))
        else:
            decided = self._lists.setdefault(interrupt_id, [_Decision(REJECT)] * int(count))
            if int(place) < len(decided):
                decided[int(place)] = _decision(answer)
        return True

    def payloads(self) -> dict[str, Raw]:
        """What to send, by the id of the interrupt."""
        lists = {each: _encoded(_Decided(decided)) for each, decided in self._lists.items()}
        return self._whole | lists


class _Decision(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A yes or a no. One of another type would run another call, or answer in the tool's place."""

    type: Literal["approve", "reject"]
    message: HandedOn | None = None


class _Decided(Struct, frozen=True, forbid_unknown_fields=True):
    decisions: Annotated[list[_Decision], Meta(max_length=OPEN_QUESTIONS_MAX)]


class _Verdict(Struct, frozen=True, forbid_unknown_fields=True):
    approved: bool = False
    reason: HandedOn | None = None


class _Listed(Struct, frozen=True):
    """Decisions of any types."""

    decisions: Annotated[list[Raw], Meta(max_length=OPEN_QUESTIONS_MAX)]


class _Typed(Struct, frozen=True):
    type: HandedOn


class _OtherFields(Struct, frozen=True):
    """A yes or a no, with whatever the agent asks for beside it."""

    approved: Raw


class _Request(Struct, frozen=True):
    name: HandedOn
    args: Raw = Raw(b"{}")
    description: Raw = Raw()


class _Config(Struct, frozen=True):
    action_name: HandedOn
    allowed_decisions: Annotated[list[HandedOn], FEW]


_Requests = Annotated[list[_Request], Meta(min_length=1, max_length=OPEN_QUESTIONS_MAX)]


class _Batch(Struct, frozen=True):
    action_requests: _Requests
    review_configs: Annotated[list[_Config], Meta(max_length=OPEN_QUESTIONS_MAX)]


class _Requested(Struct, frozen=True):
    action_requests: _Requests


class _Single(Struct, frozen=True):
    type: Literal["tool_approval"]
    name: HandedOn
    args: Raw = Raw(b"{}")
    description: Raw = Raw()
    tool_call_id: SomeId = ""


_decode_batch = msgspec.json.Decoder(_Batch).decode
_decode_requested = msgspec.json.Decoder(_Requested).decode
_decode_single = msgspec.json.Decoder(_Single).decode
_decode_decided = msgspec.json.Decoder(_Decided).decode
_decode_listed = msgspec.json.Decoder(_Listed).decode
_decode_typed = msgspec.json.Decoder(_Typed).decode
_decode_verdict = msgspec.json.Decoder(_Verdict).decode
_decode_other_fields = msgspec.json.Decoder(_OtherFields).decode


def actions_in(value: Raw, interrupt_id: str) -> Actions | None:
    """What an interrupt of this value asks; None if a yes and a no are no answers to it."""
    if len(interrupt_id) > ID_MAX - _PREFIX_MAX:
        return None
    batch = lenient.field(_decode_batch, value)
    if batch is not None:
        is_yes_or_no = _take_yes_and_no(batch.action_requests, batch.review_configs)
        return Actions([_action(each) for each in batch.action_requests]) if is_yes_or_no else None
    # What such an interrupt allows is not on the wire; it can be answered again after a refusal.
    single = lenient.field(_decode_single, value)
    if single is None:
        return None
    return Actions([_action(single)], call_id=single.tool_call_id or None, is_list=False)


def requests_in(value: Raw) -> Sequence[Action]:
    """The calls that a list of decisions would be about, whatever the agent allows of each."""
    requested = lenient.field(_decode_requested, value)
    return [] if requested is None else [_action(each) for each in requested.action_requests]


def _take_yes_and_no(requests: Iterable[_Request], configs: Iterable[_Config]) -> bool:
    """Whether each of these calls may be approved, and may be rejected."""
    allowed: dict[str, set[str]] = {}
    for each in configs:
        decisions = set(each.allowed_decisions)
        allowed[each.action_name] = allowed.get(each.action_name, decisions) & decisions
    return all({APPROVE, REJECT} <= allowed.get(each.name, set()) for each in requests)


def _action(request: _Request | _Single) -> Action:
    return Action(request.name, request.args, safe_json.string(request.description) or "")


def names_call(question_id: str) -> bool:
    """Whether a question that was asked at a card is about that very call."""
    asked = _ASKED.fullmatch(question_id)
    return asked is None or question_id.startswith(f"{PREFIX}{_ALONE}:")


def is_yes(answer: Raw) -> bool:
    """Whether an answer to an approval is a yes. Any other answer is a no."""
    return bytes(answer) in _YES or _verdict(answer).approved


def allowed(question_id: str, answer: Raw, count: int) -> Sequence[bool]:
    """Whether an answer to an approval allows each of the calls that it is about."""
    asked = _ASKED.fullmatch(question_id)
    if asked is not None and asked[1] == _ALL:
        return [each.type == APPROVE for each in _each_decision(answer, count)]
    return [is_yes(answer)] * count


def listed(answer: Raw, count: int) -> Sequence[bool | None] | None:
    """Whether a list of decisions allows each of so many calls; None if an answer is no such list.

    A decision of another type than `approve` and `reject` is neither a yes nor a no. If there are
    more or fewer decisions than calls, a no may be about each of these.
    """
    given = lenient.field(_decode_listed, answer)
    if given is None:
        return None
    types = [lenient.field(_decode_typed, each) for each in given.decisions]
    words = [None if each is None else _WORDS.get(each.type) for each in types]
    return words if len(words) == count else [False if False in words else None] * count


def in_other_fields(answer: Raw, *, is_asked: bool) -> bool | None:
    """Whether an answer to a question of another form allows a call; None if it does not say.

    `is_asked`: its form has a yes or a no. Then any answer that is no yes is a no.
    """
    fields = lenient.field(_decode_other_fields, answer)
    verdict = bytes(answer if fields is None else fields.approved)
    if verdict in _YES:
        return True
    return False if is_asked or fields is not None or verdict in _NO else None


def _decision(answer: Raw) -> _Decision:
    if is_yes(answer):
        return _Decision(APPROVE)
    return _Decision(REJECT, _verdict(answer).reason or None)


def _verdict(answer: Raw) -> _Verdict:
    return lenient.field(_decode_verdict, answer) or _Verdict()


def _for_all(answer: Raw, count: int) -> Raw:
    return _encoded(_Decided(_each_decision(answer, count)))


def _each_decision(answer: Raw, count: int) -> list[_Decision]:
    """One answer about several calls: the decisions as they are given, else one for all calls."""
    given = lenient.field(_decode_decided, answer)
    if given is not None and len(given.decisions) == count:
        return given.decisions
    return [_decision(answer)] * count


def _encoded(value: Struct) -> Raw:
    return Raw(msgspec.json.encode(value))
