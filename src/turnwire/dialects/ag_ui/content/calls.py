"""The tool calls of a run: their inputs, which come in pieces, and their outcomes.

    START ─ARGS…─► input told in pieces ─END─► RUNNING with the whole input ─RESULT─► outcome
      └──END─► the pieces are no JSON, or none came: the input waits for a snapshot, or the outcome

Some agents leave out the first piece of an input, or all of it, and tell it in a snapshot.

An agent may leave out START or END, or send END when the tool is done, together with the RESULT.
The methods of `Calls` return the events of a call.

A run that answers a question may repeat calls of the runs before it, which have their cards. But an
agent may also use an id again, in the same run too, and a call that its user changed has its old
id. So what begins like a call that was told before is told when its input is whole: not at all if
it is that call, else as a call of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw

from turnwire.core.bounds import LONG_BYTES, keep
from turnwire.core.events import Event, Phase, ToolInputDelta, ToolUpdate
from turnwire.core.wire import json_text
from turnwire.dialects.ag_ui.content.inputs import joined
from turnwire.dialects.ag_ui.content.known_call import EMPTY, TOO_LONG, DoneCall, KnownCall

OPEN_MAX: Final = 256
"""Most calls that are open at once."""

DONE_MAX: Final = 4_096
"""Most calls that are remembered after their outcome."""

INPUT_MAX: Final = 1_048_576
"""Most characters of the inputs of open calls. Of a longer input, the client gets the pieces.

And most bytes of the inputs of a turn's calls that are over. What is not kept is taken for another.
"""

NO_RESULT: Final = "No result"

UNNAMED: Final = "tool"
"""The name of a call whose beginning was not told."""

_EMPTY_TEXT: Final = bytes(EMPTY).decode()
_TOO_LONG_TEXT: Final = bytes(TOO_LONG).decode()

_NONE: Final[dict[str, Any]] = {}
"""What most turns have none of. Nothing is put into it: each empty dictionary takes 80 bytes."""


class Calls:
    """The calls of a message. They go on from one run to the next, if that answers a question."""

    def __init__(self) -> None:
        self._open: dict[str, KnownCall] = {}
        self._done: dict[str, DoneCall] = {}
        """Calls that have an outcome, or were settled without one."""
        self._settled: dict[str, KnownCall] = {}
        """Calls that were settled without an outcome, which a later run may have."""
        self._waited: dict[str, None] = {}
        """Calls that had no outcome when this run began."""
        self._again: dict[str, KnownCall] = _NONE
        """What begins like a call that was told before, until its input is whole."""
        self._reused: dict[str, None] = _NONE
        """Ids that a further call has. The client knows it by another id."""
        self._run = 0
        self._input_chars = 0
        self._done_bytes = 0
        """Those of the inputs of calls that are over."""

    def next_run(self) -> None:
        """Another run of the same message begins. It may repeat calls of the runs before it."""
        self._run += 1
        self._waited = dict.fromkeys((*self._open, *self._settled))

    @property
    def waits_for_input(self) -> bool:
        """Whether a call ended without a valid input, which a snapshot may have."""
        if not self._open:
            return False
        return any(call.has_ended and call.input is None for call in self._open.values())

    @property
    def waiting_ids(self) -> list[str]:
        """The calls that have no outcome, the open ones first."""
        return [*self._open, *self._settled]

    @property
    def open_ids(self) -> list[str]:
        return list(self._open)

    def is_open(self, call_id: str) -> bool:
        return call_id in self._open

    def lacks_outcome(self, call_id: str) -> bool:
        return call_id in self._open or call_id in self._settled

    @property
    def any_lacks_outcome(self) -> bool:
        return bool(self._open or self._settled)

    @property
    def has_waited(self) -> bool:
        """Whether a call has no outcome that had none when this run began."""
        return any(map(self.lacks_outcome, self._waited))

    def has_waited_for(self, call_id: str) -> bool:
        return call_id in self._waited and self.lacks_outcome(call_id)

    def is_done(self, call_id: str) -> bool:
        return call_id in self._done and not self.lacks_outcome(call_id)

    def described(self, call_id: str) -> tuple[str, Raw] | None:
        """The name and the input of a call: those that its user would allow."""
        call = self._without_outcome(call_id)
        if call is None:
            done = self._done.get(call_id)
            return None if done is None else (done.call.name, done.call.known_input)
        return call.name, (call.repeated or call).known_input

    def digests(self, call_id: str) -> Sequence[bytes]:
        """Those of a call that has no outcome. The first one is of all that it has.

        If its card shows less, and the agent was sent less, there is one of that.
        """
        call = self._without_outcome(call_id)
        if call is None:
            return ()
        return [each.digest for each in (call.repeated, call) if each is not None]

    def deny(self, call_ids: Iterable[str]) -> None:
        """The user said no to these calls."""
        for call in map(self._without_outcome, call_ids):
            if call is not None:
                call.is_denied = True

    def ask_again(self, call_ids: Iterable[str]) -> None:
        """The user was asked again about these calls: an earlier no does not count."""
        for call in map(self._without_outcome, call_ids):
            if call is not None:
                call.is_denied = False

    def is_denied(self, call_id: str) -> bool:
        call = self._without_outcome(call_id)
        return call is not None and call.is_denied

    def is_apart(self, call_id: str) -> bool:
        """Whether an approval of a call cannot be asked at its card.

        The client knows the card by another id, since an earlier call had this one. Or there will
        be another card, see `show_more`.
        """
        return call_id in self._reused or self._more(call_id) is not None

    @property
    def any_has_more(self) -> bool:
        """Whether a later run began a call with more input than its card shows."""
        return any(self._more(call_id) is not None for call_id in self.waiting_ids)

    def _more(self, call_id: str) -> KnownCall | None:
        """What an approval of this id is about, if it has no card: what began again under it.

        Either that has more input than the card, or the call of the card has its outcome.
        """
        call = self._without_outcome(call_id)
        if call is not None:
            return call.repeated
        done = self._done.get(call_id)
        return None if done is None or done.began_again != self._run else done.call

    def show_more(self, call_ids: Iterable[str]) -> list[Event]:
        """The user is asked about these calls. What began again, and has no card, has one now.

        So it is a call of its own, with a card that has all that may run.
        """
        events: list[Event] = []
        for call_id in call_ids:
            more = self._more(call_id)
            if more is not None:
                events += self._begin_instead(call_id, more.name)
                events += self._tell_input(call_id, self._open[call_id], more.known_input)
        return events

    def _without_outcome(self, call_id: str) -> KnownCall | None:
        return self._open.get(call_id) or self._settled.get(call_id)

    def adopt(self, call_id: str, name: str, whole: Raw) -> None:
        """Know a call of an earlier run, which the client has with its input."""
        self._note_reuse(call_id)
        self._open[call_id] = KnownCall(name, whole)

    def follow(self, update: ToolUpdate) -> None:
        """Know what an earlier run told of a call."""
        call_id, has_outcome = update.call_id, update.phase.is_over and not update.preliminary
        is_known = self.lacks_outcome(call_id) or self.is_done(call_id)
        has_input = update.args is not None and self.is_open(call_id)
        if has_input or not (has_outcome and is_known):
            self.adopt(call_id, update.tool_name, update.args or EMPTY)
        if has_outcome:
            self.result(call_id, None)
        elif update.phase.is_over:
            self.settle(call_id)

    def start(self, call_id: str, name: str) -> list[Event]:
        call = self._without_outcome(call_id)
        if call is not None and not call.has_ended:
            return []
        if call is not None or self._was_done_before(call_id):
            self._again = self._again or {}
            self._again.setdefault(call_id, KnownCall(name))
            return []
        return self._begin(call_id, name)

    def args(self, call_id: str, delta: str) -> list[Event]:
        call = self._open.get(call_id)
        if call is None or call.has_ended or not delta:
            again = self._again.get(call_id)
            if again is not None:
                self._add_piece(again, delta)
            return []
        self._add_piece(call, delta)
        return [ToolInputDelta(call_id, call.name, delta)]

    def end(self, call_id: str) -> list[Event]:
        again = self._again.pop(call_id, None)
        if again is not None:
            return self._end_again(call_id, again)
        call = self._open.get(call_id)
        if call is None or call.has_ended:
            return []
        call.has_ended = True
        whole = json_text.valid("".join(call.pieces))
        return [] if whole is None else self._tell_input(call_id, call, whole)

    def input_found(self, call_id: str, whole: Raw) -> list[Event]:
        """A snapshot has the input of a call. It counts if no other input came."""
        call = self._open.get(call_id)
        if call is None or not call.has_ended or call.input is not None:
            return []
        return self._tell_input(call_id, call, whole)

    def result(self, call_id: str, output: Raw | None, *, error: str | None = None) -> list[Event]:
        """A call has its outcome: an output, or an error. Of several, the first counts."""
        call, done = self._open.pop(call_id, None), self._done.get(call_id)
        settled = self._settled.pop(call_id, None)
        if call is None and done is not None and settled is None:
            return []
        call = call or KnownCall(UNNAMED if settled is None else settled.name)
        whole = call.input or joined(call.pieces)
        self._input_chars -= call.chars
        has_input = whole is not None or (done is not None and done.has_input)
        call.input, call.pieces = whole, []
        new = DoneCall(settled or call, self._run, has_input, error is not None)
        self._keep_input(new.call)
        keep(self._done, call_id, new, DONE_MAX)
        return [
            ToolUpdate(
                call_id=call_id,
                tool_name=call.name,
                phase=Phase.COMPLETED if error is None else Phase.ERROR,
                args=whole,
                result=output,
                error=error,
            )
        ]

    def settle(self, call_id: str) -> list[Event]:
        """End an open call without an outcome, for clients that wait for that of each call.

        The outcome that a later run may have replaces this error.
        """
        call = self._open[call_id]
        whole = call.known_input
        events = self.result(call_id, None, error=NO_RESULT)
        call.input, call.has_ended = whole, True
        keep(self._settled, call_id, call, OPEN_MAX)
        return [msgspec.structs.replace(each, preliminary=True) for each in events]

    def was_settled_as(self, call_id: str, name: str, whole: Raw) -> bool:
        """Whether this call was settled without an outcome, and has this tool and this input."""
        call = self._settled.get(call_id)
        return call is not None and call.is_same(name, whole)

    def came_late(self, call_id: str, *, has_input: bool, is_error: bool) -> Sequence[str]:
        """What a snapshot knows of a call that is over, and the client was not told: each once."""
        done = self._done.get(call_id)
        if done is None:
            return ()
        late: list[str] = []
        if has_input and not done.has_input:
            done.has_input = True
            late.append("input that came late")
        if is_error and not done.is_error:
            done.is_error = True
            late.append("failure that came late")
        return late

    def settle_inputs(self) -> Iterator[Event]:
        """The run is over: tell the inputs that no snapshot had."""
        for call_id in list(self._again):
            yield from self.end(call_id)
        for call_id, call in self._open.items():
            if call.input is None:
                yield from self._tell_input(call_id, call, joined(call.pieces) or EMPTY)

    def _tell_input(self, call_id: str, call: KnownCall, whole: Raw) -> list[Event]:
        call.input = whole
        call.has_ended = True
        return [_update(call_id, call.name, Phase.RUNNING, whole)]

    def _begin(self, call_id: str, name: str) -> list[Event]:
        events: list[Event] = []
        if len(self._open) >= OPEN_MAX:
            events = self.result(next(iter(self._open)), None, error=NO_RESULT)
        self._note_reuse(call_id)
        self._waited.pop(call_id, None)
        self._open[call_id] = KnownCall(name)
        return [*events, _update(call_id, name, Phase.PENDING)]

    def _note_reuse(self, call_id: str) -> None:
        """A call begins. What is known of an earlier one with this id does not count any more."""
        if self._done.pop(call_id, None) is not None:
            self._reused = self._reused or {}
            keep(self._reused, call_id, None, DONE_MAX)
        self._settled.pop(call_id, None)

    def _keep_input(self, call: KnownCall) -> None:
        """Keep the input of a call that is over, while there is room for those of a turn."""
        call.repeated = None
        self._done_bytes += len(call.input or EMPTY)
        if self._done_bytes > INPUT_MAX:
            call.forget_input()

    def _add_piece(self, call: KnownCall, delta: str) -> None:
        call.chars += len(delta)
        self._input_chars += len(delta)
        if self._input_chars <= INPUT_MAX:
            call.pieces.append(delta)
        else:
            call.pieces = [_TOO_LONG_TEXT]

    def _end_again(self, call_id: str, again: KnownCall) -> list[Event]:
        """What began like a call that was told before is that call, or one of its own."""
        self._input_chars -= again.chars
        text = "".join(again.pieces)
        whole = None if text == _EMPTY_TEXT else json_text.valid(text)
        call = self._open.get(call_id)
        if call is not None and call.name == again.name and call.input is None:
            return [] if whole is None else self._tell_input(call_id, call, whole)
        if self._is_known(call_id, again.name, whole):
            return []
        begun = self._begin_instead(call_id, again.name)
        self.args(call_id, text)
        return [*begun, *self.end(call_id)]

    def _begin_instead(self, call_id: str, name: str) -> list[Event]:
        """Begin a call of its own under the id of one that has its card, and gets no outcome."""
        is_open = call_id in self._open
        settled = self.result(call_id, None, error=NO_RESULT) if is_open else []
        return [*settled, *self._begin(call_id, name)]

    def _is_known(self, call_id: str, name: str, whole: Raw | None) -> bool:
        """Whether a tool and an input are those of the call that has this id; None: not told."""
        call = self._without_outcome(call_id)
        if call is None:
            return self._is_done_again(call_id, name, whole)
        if call.name != name:
            return False
        if whole is None:
            return True
        if call.is_same(name, whole):
            call.repeated = None  # what an earlier run added is not part of it any more
            return True
        if call.is_denied or len(whole) > LONG_BYTES or not call.has_less(whole):
            return False
        call.repeated = KnownCall(name, whole)
        return True

    def _is_done_again(self, call_id: str, name: str, whole: Raw | None) -> bool:
        done = self._done.get(call_id)
        if done is None or done.call.name != name:
            return False
        if whole is not None and not done.call.is_same(name, whole):
            return False
        done.began_again = self._run
        return True

    def _was_done_before(self, call_id: str) -> bool:
        """Whether a call of this id was done in an earlier run."""
        done = self._done.get(call_id)
        return done is not None and done.run < self._run


def _update(call_id: str, name: str, phase: Phase, args: Raw | None = None) -> ToolUpdate:
    return ToolUpdate(call_id=call_id, tool_name=name, phase=phase, args=args)
