"""What was said so far, in messages of this wire: an agent that keeps nothing needs it again.

A run that ends with an interrupt goes on in another run, whose request has the whole conversation.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.body.conversation import AssistantMessage, Call, Result, Text
from turnwire.core.body.ui_message import DENIED, NO_RESULT
from turnwire.dialects.ag_ui import commands

KEPT_MAX: Final = 1_048_576
"""About the most bytes of a turn that are kept. A longer one cannot go on in another run."""

LENGTHS_MAX: Final = 256
"""Most messages whose length is kept."""


_NONE: Final[dict[Any, Any]] = {}
"""What most turns have none of. Nothing is put into it: each empty dictionary takes 80 bytes."""

_TEXT_BYTES: Final = 256
"""About what a further message in a step takes beside its id and its text."""

_STEP_BYTES: Final = 500
_PART_BYTES: Final = 250
"""About what a call takes, or a result, beside its ids and its content."""


_HALVES: Final = "surrogatepass"
"""A character may come in two halves, each in a delta of its own."""

_EMPTY: Final = Raw(b"{}")

_DENIED: Final = Raw(msgspec.json.encode(DENIED))
"""The result of a call that was denied, until there is another. It is this very object."""

_LACKING: Final = Raw(msgspec.json.encode(NO_RESULT))
"""The result of a call whose id another call has now. The agent would find two calls otherwise, and
might run both when its user approves one."""


_Result: TypeAlias = tuple[str, Raw]
"""The id of its message, and its content."""


class _Step(Struct):
    """A message of the assistant: texts, then calls. Their results follow it.

    `texts` has each message by its id: subagents may tell theirs at once. A string for each delta
    would take far more memory than what it says.
    """

    message_id: str
    texts: dict[str, bytearray] = {}
    calls: dict[str, tuple[str, Raw]] = {}
    results: dict[str, _Result] = {}
    denials: int = 0
    """How many of the results are denials."""
    is_sent: bool = False
    """Whether the agent is sent the message by others, and only its results are to be said."""

    @property
    def is_over(self) -> bool:
        """Whether there are calls, and each has a result. A denial is none: a run may tell one."""
        return bool(self.calls) and len(self.results) - self.denials == len(self.calls)

    def result_of(self, call_id: str) -> _Result | None:
        return self.results.get(call_id)

    def give(self, call_id: str, result: _Result | None) -> None:
        self.denials += _is_denial(result) - _is_denial(self.results.get(call_id))
        if result is None:
            del self.results[call_id]
        else:
            self.results[call_id] = result


class _StandIn(Struct):
    """A message that was sent: the error in the place of a result that a run may still tell."""

    sent_id: str
    sends_error: bool
    """Whether the agent is sent the error until there is a result."""
    result: _Result | None = None

    def result_of(self, _call_id: str) -> _Result | None:
        return self.result

    def give(self, _call_id: str, result: _Result | None) -> None:
        self.result = result


class Transcript:
    """The messages up to a turn, which were sent, and those of the turn, in order."""

    __slots__ = (
        "_begun",
        "_lengths",
        "_sent",
        "_sent_bytes",
        "_stand_in_of",
        "_stand_ins",
        "_step_of",
        "_steps",
        "_turn_bytes",
        "is_whole",
    )

    def __init__(self, *, is_kept: bool, sent: Sequence[bytes] = ()) -> None:
        """Begin with the messages `sent`, which a first request has in any case."""
        self.is_whole = is_kept
        """Whether all of the turn is kept."""
        self._sent = sent
        self._sent_bytes = sum(map(len, sent))
        self._steps: list[_Step] = []
        self._step_of: dict[str, _Step | None] = {}
        """The step of each call; of calls with one id, that of the last one, None before it."""
        self._stand_ins: dict[int, _StandIn] = _NONE
        """By their places in what was sent."""
        self._stand_in_of: dict[str, _StandIn] = _NONE
        self._begun: dict[str, bool] = {}
        """The calls that began, until there is an input or an outcome."""
        self._lengths: dict[str, int] = {}
        self._turn_bytes = 0

    @property
    def kept_bytes(self) -> int:
        """About how much memory it takes."""
        return self._sent_bytes + self._turn_bytes if self.is_whole else 0

    def was_sent(self) -> None:
        """All of it was sent. What is not kept is not needed any more."""
        if not self.is_whole:
            self.forget()

    def forget(self) -> None:
        """Keep nothing of the turn, from now on."""
        self.is_whole = False
        self._sent = ()
        self._steps.clear()
        self._step_of.clear()
        self._stand_ins = self._stand_in_of = _NONE

    def adopt(self, call_id: str, name: str, whole: Raw) -> None:
        """Know a call of a message that the agent is sent anyway: its result follows that."""
        if self._has_room(_PART_BYTES + len(call_id) + len(name) + len(whole)):
            if not self._steps:
                self._steps.append(_Step("", is_sent=True))
            self._steps[0].calls[call_id] = (name, whole)
            self._step_of[call_id] = self._steps[0]

    def stands_in(self, call_id: str, sent_id: str, place: int, *, sends_error: bool) -> None:
        """What was sent at this place is no result, but says that a call has none.

        If it is not `sends_error`, the agent is not sent it. A result of the call takes its place.
        """
        self._stand_ins, self._stand_in_of = self._stand_ins or {}, self._stand_in_of or {}
        self._stand_ins[place] = self._stand_in_of[call_id] = _StandIn(sent_id, sends_error)

    def begin(self, call_id: str) -> None:
        """A call begins, which may have the id of an earlier one. That gets no result any more."""
        self._begun[call_id] = True
        stand_in = self._stand_in_of.pop(call_id, None)
        if stand_in is not None:
            stand_in.sends_error = True
        if call_id in self._step_of:
            self._fill(call_id, _LACKING)
            self._step_of[call_id] = None

    def text(self, message_id: str, delta: str) -> None:
        self._lengths[message_id] = self._lengths.get(message_id, 0) + len(delta)
        if len(self._lengths) > LENGTHS_MAX:
            del self._lengths[next(iter(self._lengths))]
        if not self.is_whole:
            return
        encoded = delta.encode(errors=_HALVES)
        if self._has_room(len(encoded)):
            texts = self._step(message_id).texts
            is_further = bool(texts) and message_id not in texts
            if not is_further or self._has_room(len(message_id) + _TEXT_BYTES):
                texts.setdefault(message_id, bytearray()).extend(encoded)

    def length(self, message_id: str) -> int | None:
        """How many characters of this message were told; None for none."""
        return self._lengths.get(message_id)

    def call(self, call_id: str, name: str, whole: Raw | None) -> None:
        """The input of a call, each time it is told. None: there is an outcome, and was no input.

        Then the client is shown an empty one. Without a beginning, nobody told the tool.
        """
        has_begun = self._begun.pop(call_id, False)
        if whole is None:
            if not has_begun:
                return
            whole = _EMPTY
        if self._step_of.get(call_id) is not None:
            return
        if self._has_room(_PART_BYTES + len(call_id) + len(name) + len(whole)):
            again = f":{len(self._steps)}" if call_id in self._step_of else ""
            message_id = f"{call_id}:message{again}"
            step = self._step(message_id)
            if call_id in step.calls:
                step = self._new_step(message_id)
            step.calls[call_id] = (name, whole.copy())
            self._step_of[call_id] = step

    def result(self, call_id: str, message_id: str, content: Raw) -> None:
        """The result of a call that was told. `content` is JSON: a string, or a list of parts."""
        if self.is_whole:  # nothing else of its event, of which it is a part, stays in memory
            self._give(call_id, (message_id, content.copy()))

    def deny(self, call_ids: Iterable[str]) -> None:
        """The agent was sent the denial of these calls. From now on, none is without a result."""
        for call_id in call_ids:
            self._fill(call_id, _DENIED)

    def ask_again(self, call_ids: Iterable[str]) -> None:
        """These calls were asked about again, and the next run begins with what was answered."""
        for call_id in call_ids:
            holder = self._holder_of(call_id)
            if holder is not None and _is_denial(holder.result_of(call_id)):
                self._give(call_id, None)

    def _fill(self, call_id: str, content: Raw) -> None:
        """Note this as the result of a call that has none."""
        holder = self._holder_of(call_id)
        if holder is not None and holder.result_of(call_id) is None:
            self._give(call_id, (f"{call_id}:result", content))

    def _give(self, call_id: str, result: _Result | None) -> None:
        """Note this in the place of the result that a call has."""
        holder = self._holder_of(call_id)
        if holder is not None:
            more = _size(call_id, result) - _size(call_id, holder.result_of(call_id))
            if self._has_room(more):
                holder.give(call_id, result)

    def _holder_of(self, call_id: str) -> _Step | _StandIn | None:
        """What holds the result of a call."""
        return self._stand_in_of.get(call_id) or self._step_of.get(call_id)

    def messages(self) -> Iterator[bytes]:
        """The messages, encoded. A call without a result has none: the agent waits for it."""
        if self._stand_ins:
            for place, item in enumerate(self._sent):
                yield from self._sent_at(place, item)
        else:
            yield from self._sent
        for step in self._steps:
            if not step.is_sent:
                yield from commands.written(_message(step))
            for call_id, (message_id, content) in step.results.items():
                yield from commands.written(Result(message_id, call_id, "", content))

    def _sent_at(self, place: int, item: bytes) -> Iterator[bytes]:
        stand_in = self._stand_ins.get(place)
        if stand_in is None:
            yield item
        elif stand_in.result is not None:
            message_id, content = stand_in.result
            yield from commands.written(Result(message_id, stand_in.sent_id, "", content))
        elif stand_in.sends_error:
            yield item

    def _step(self, message_id: str) -> _Step:
        """The step that is open. When all of its calls have results, another one begins."""
        last = self._steps[-1] if self._steps else None
        if last is None or last.is_sent or last.is_over:
            return self._new_step(message_id)
        return last

    def _new_step(self, message_id: str) -> _Step:
        step = _Step(message_id)
        self._steps.append(step)
        self._turn_bytes += _STEP_BYTES + len(message_id)  # the next thing finds that it is full
        return step

    def _has_room(self, size: int) -> bool:
        self._turn_bytes += size
        if self._turn_bytes > KEPT_MAX and self.is_whole:
            self.forget()
        return self.is_whole


def _size(call_id: str, result: _Result | None) -> int:
    """About how many bytes a result takes."""
    return 0 if result is None else _PART_BYTES + len(call_id) + sum(map(len, result))


def _is_denial(result: _Result | None) -> bool:
    return result is not None and result[1] is _DENIED


def _message(step: _Step) -> AssistantMessage:
    texts = (each.decode(errors=_HALVES) for each in step.texts.values())
    text = "".join(map(safe_json.join_surrogates, texts))
    calls = tuple(Call(call_id, name, whole) for call_id, (name, whole) in step.calls.items())
    return AssistantMessage(step.message_id, (Text(text),) if text else (), calls)
