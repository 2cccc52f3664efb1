"""Which events of a turn that is read again are new.

A resumed stream brings the turn from its start: what came before the break in other pieces (the
text so far is one delta), in other places (a tool's output that came meanwhile stands at its call),
or, from a turn log, in the same ones. So no position in the stream says where the news begins:

- texts are compared by their length: of each delta only what is longer than before is new;
- calls go by their id and how far they got; files, sources, steps and data without an id by number;
- data with an id is new where its value is another than the last one. While the stream is behind,
  a value may be an older one, which a newer one follows: only the last one counts;
- what is taken back stays noted, for a stream from the start has it too, and takes it back again.

If the text is another than before, nothing of it may be kept: `Diverged`.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from msgspec import structs

from turnwire_client import chunks, events
from turnwire_client.chunks import Chunk
from turnwire_client.events import Data

_APPROVAL_ID: Final = "approvalId"
"""Each stream signs its own: it is no part of what a question says."""
_TEXT: Final = "text"
_RESET: Final = chunks.ResetStep.__name__
_STAGES: Final[Mapping[type[Any], int]] = {
    events.ToolInputStart: 0,
    events.ToolInputAvailable: 1,
    chunks.ApprovalRequest: 2,
    events.ToolOutputError: 5,
    events.ToolOutputAvailable: 5,
}
_PRELIMINARY: Final = 3
_UNRESOLVED: Final = 4
"""The error of a call that has no outcome: one that comes later replaces it."""
_NO_RESULT: Final = "No result"
"""What the gateway says of such a call."""


class Diverged(Exception):  # noqa: N818 (a finding; nothing is wrong)
    """The turn has other words than before the break."""


class _Text:
    """A text that grows: what was yielded, and how far this connection has come."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._known = ""
        """What came before this connection."""
        self._at = 0

    def rewind(self) -> None:
        self._known = "".join(self._pieces)
        self._pieces = [self._known]
        self._at = 0

    @property
    def is_behind(self) -> bool:
        return self._at < len(self._known)

    def new(self, delta: str) -> str:
        """What is new of a delta; nothing if all of it is known."""
        begin, self._at = self._at, self._at + len(delta)
        known = self._known[begin : self._at]
        if not delta.startswith(known):
            raise Diverged
        new = delta[len(known) :]
        if new:
            self._pieces.append(new)
        return new


class Seen:
    """What was yielded of one turn, over all of its connections."""

    def __init__(self, news: int = 0) -> None:
        self._texts: dict[str, _Text] = {}
        """By `text`, `reasoning`, or the id of a call whose input comes in pieces."""
        self._stages: dict[str, int] = {}
        """How far each call got."""
        self._counts: Counter[str] = Counter()
        self._counts_here: Counter[str] = Counter()
        self._values: dict[tuple[str, str], Any] = {}
        """The last value of each data part with an id."""
        self._waiting: dict[tuple[str, str], Data] = {}
        """Values of known parts that came while this connection was behind."""
        self._is_resumed = False
        self._is_behind = False
        self.news = news
        """How many new chunks there were."""

    @property
    def has_more_text(self) -> bool:
        """Whether this connection has less of the answer's text than was yielded."""
        return _TEXT in self._texts and self._texts[_TEXT].is_behind

    @property
    def has_more_resets(self) -> bool:
        """Whether this connection has taken back less than the ones before it."""
        return self._counts_here[_RESET] < self._counts[_RESET]

    def rewind(self) -> None:
        """Begin another connection, which brings the turn from its start."""
        for text in self._texts.values():
            text.rewind()
        self._counts_here.clear()
        self._waiting.clear()
        self._is_resumed = self._is_behind = self.news > 0

    def go_on(self) -> None:
        """Another response begins, which brings only what comes behind the last one."""
        self._is_resumed = self._is_behind = False

    def new(self, chunk: Chunk) -> list[Chunk]:
        """Return what is new of a chunk, after what waited for it.

        Raises:
            Diverged: the text is another than before.

        """
        found = self._new(chunk)
        if found is None:
            return []
        self.news += 1
        return [*self.caught_up(), found]

    def caught_up(self) -> list[Chunk]:
        """The connection has brought all that was known: return the values that waited."""
        self._is_behind = False
        waited = [part for key, part in self._waiting.items() if self._is_other(key, part)]
        self._waiting.clear()
        for part in waited:
            self._values[part.name, part.id or ""] = _value(part)
        self.news += len(waited)
        return [*waited]

    def _new(self, chunk: Chunk) -> Chunk | None:
        match chunk:
            case events.TextDelta():
                return self._delta(_TEXT, chunk)
            case events.ReasoningDelta():
                return self._delta("reasoning", chunk)
            case events.ToolInputDelta(call_id, piece):
                new = self._text(f"input of {call_id}").new(piece)
                return structs.replace(chunk, input_text_delta=new) if new else None
            case (
                events.ToolInputStart(call_id)
                | events.ToolInputAvailable(call_id)
                | chunks.ApprovalRequest(tool_call_id=call_id)
                | events.ToolOutputAvailable(call_id)
                | events.ToolOutputError(call_id)
            ):
                return self._staged(call_id, chunk)
            case Data(transient=True):
                return None if self._is_behind else chunk
            case Data(name, _, str(data_id)):
                return self._keyed((name, data_id), chunk)
            case Data(name):
                return self._counted(chunks.DATA + name, chunk)
            case (
                events.File()
                | events.SourceUrl()
                | events.StartStep()
                | events.FinishStep()
                | chunks.ResetStep()
            ):
                return self._counted(type(chunk).__name__, chunk)
            case _:
                return None  # what begins or ends a block or the message is no event

    def _delta(
        self, kind: str, chunk: events.TextDelta | events.ReasoningDelta
    ) -> events.TextDelta | events.ReasoningDelta | None:
        new = self._text(kind).new(chunk.delta)
        return structs.replace(chunk, delta=new) if new else None

    def _text(self, name: str) -> _Text:
        return self._texts.setdefault(name, _Text())

    def _staged(self, call_id: str, chunk: Chunk) -> Chunk | None:
        stage, former = _stage(chunk), self._stages.get(call_id, -1)
        self._stages[call_id] = max(stage, former)
        return None if self._is_resumed and stage <= former else chunk

    def _counted(self, kind: str, chunk: Chunk) -> Chunk | None:
        self._counts_here[kind] += 1
        if self._counts_here[kind] <= self._counts[kind]:
            return None
        self._counts[kind] += 1
        return chunk

    def _keyed(self, key: tuple[str, str], part: Data) -> Data | None:
        if part.name == "question" and _is_open(part.data):
            # A question that is closed is asked and closed once more.
            is_known = self._counted(f"question {part.id}", part) is None
            if is_known and not _is_open(self._values.get(key)):
                return None
        if self._is_behind and key in self._values:
            self._waiting[key] = part
            return None
        if self._is_resumed and not self._is_other(key, part):
            return None
        self._values[key] = _value(part)
        return part

    def _is_other(self, key: tuple[str, str], part: Data) -> bool:
        return key not in self._values or self._values[key] != _value(part)


def _stage(chunk: Chunk) -> int:
    match chunk:
        case events.ToolOutputAvailable(preliminary=True):
            return _PRELIMINARY
        case events.ToolOutputError(error_text=text) if text == _NO_RESULT:
            return _UNRESOLVED
        case _:
            return _STAGES[type(chunk)]


def _is_open(question: Any) -> bool:
    return isinstance(question, dict) and question.get("state") == "open"


def _value(part: Data) -> Any:
    """What a part says."""
    if isinstance(part.data, dict) and _APPROVAL_ID in part.data:
        return {name: value for name, value in part.data.items() if name != _APPROVAL_ID}
    return part.data
