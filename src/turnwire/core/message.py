"""The history as `UIMessage[]`: what clients would hold now, had they heard it all.

A turn of the history is told again to a `Translator`, and its chunks are put
together as a client does. So there is one mapping, and a message looks the same
whether it was streamed or loaded.
"""

from collections.abc import Sequence
from typing import Final, assert_never

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire.core import chunks, events, harmless, media
from turnwire.core.chunks import Chunk
from turnwire.core.errand import Asked, Told, Transcript
from turnwire.core.events import Reason
from turnwire.core.steps import Steps, whole
from turnwire.core.translate import Translator

_MANY: Final = 64
"""Events, or parts, of a step: half a millisecond."""

_PIECE_BYTES: Final = 65_536
"""Of a piece, at least; a long message is one."""


class _Part(Struct, rename="camel", tag_field="type"):
    """Base of the parts whose type is fixed."""


class _StepStart(_Part, tag="step-start"):
    pass


class _Text(_Part, tag="text"):
    text: str
    state: str | UnsetType = UNSET


class _Reasoning(_Part, tag="reasoning"):
    text: str
    state: str


class _File(_Part, tag="file"):
    media_type: str
    url: str
    filename: str | UnsetType = UNSET


class _SourceUrl(_Part, tag="source-url"):
    source_id: str
    url: str
    title: str | UnsetType = UNSET


class _Question(_Part, tag="data-question"):
    id: str
    data: Raw


class _Tool(Struct, rename="camel"):
    """The type names the tool, so it is a field like others."""

    type: str
    tool_call_id: str
    state: str = "input-streaming"
    provider_executed: bool = True
    input: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    error_text: str | UnsetType = UNSET


_AnyPart = _StepStart | _Text | _Reasoning | _File | _SourceUrl | _Question | _Tool


class _Finish(Struct, rename="camel"):
    """How a turn ended that was not let end by itself."""

    reason: str
    error_text: str | UnsetType = UNSET


class _Metadata(Struct):
    finish: _Finish


class _Message(Struct):
    id: str
    role: str
    parts: list[_AnyPart] | Raw
    metadata: _Metadata | UnsetType = UNSET


def ui_messages(transcript: Transcript, *, finish: bool = False) -> bytes:
    """The messages of a transcript, as a JSON array that `useChat({messages})` takes.

    With `finish`, the metadata of an answer says that its turn failed or was
    stopped: its parts do not. Not unasked: apps with a metadata schema refuse
    what it has not.
    """
    return b"".join(whole(telling(transcript, finish=finish)))


def telling(transcript: Transcript, *, finish: bool) -> Steps[Sequence[bytes]]:
    """The same, in steps, and in pieces that make the whole."""
    told: list[bytes] = []
    piece = bytearray(b"[")
    for said in transcript.said:
        match said:
            case Asked():
                message = _asked(said)
            case Told():
                message = yield from _told(said, finish=finish)
            case _:
                assert_never(said)
        if told or len(piece) > 1:
            piece += b","
        piece += msgspec.json.encode(message)
        if len(piece) > _PIECE_BYTES:
            told.append(bytes(piece))
            piece.clear()
        yield
    piece += b"]"
    return [*told, bytes(piece)]


def _asked(asked: Asked) -> _Message:
    parts: list[_AnyPart] = [
        _File(f.mime, harmless.mend(f.url), UNSET if f.filename is None else f.filename)
        for f in asked.files
        if media.is_file(f.url)
    ]
    if asked.text or not parts:
        parts.append(_Text(harmless.mend(asked.text)))
    return _Message(harmless.mend(asked.message_id), "user", parts)


def _told(told: Told, *, finish: bool) -> Steps[_Message]:
    translator = Translator(usage=False, taken_id=None)
    held = _Held()
    for chunk in translator.feed(events.TurnStarted(told.turn_id)):
        held.take(chunk)
    for number, event in enumerate(told.events):
        for chunk in translator.feed(event):
            held.take(chunk)
        if number % _MANY == 0:
            yield
    said_so = _Metadata(held.finish) if finish and held.finish else UNSET
    parts = yield from _encoded(held.parts)
    return _Message(harmless.mend(told.turn_id), "assistant", parts, said_so)


def _encoded(parts: list[_AnyPart]) -> Steps[list[_AnyPart] | Raw]:
    """Parts as they are, or in JSON where they are many."""
    if len(parts) <= _MANY:
        return parts
    encoded: list[bytes] = []
    for first in range(0, len(parts), _MANY):
        encoded.append(msgspec.json.encode(parts[first : first + _MANY])[1:-1])
        yield
    return Raw(b"[%b]" % b",".join(encoded))


class _Held:
    """A message as a client puts it together."""

    def __init__(self) -> None:
        self.parts: list[_AnyPart] = []
        self.finish: _Finish | None = None
        """None of a turn that ended by itself."""
        self._texts: list[str] = []
        self._tools: dict[str, _Tool] = {}
        self._questions: dict[str, _Question] = {}

    def take(self, chunk: Chunk) -> None:
        match chunk:
            case chunks.StartStep():
                self.parts.append(_StepStart())
            case chunks.TextDelta(_, delta) | chunks.ReasoningDelta(_, delta):
                self._texts.append(delta)
            case chunks.TextEnd():
                self.parts.append(_Text(self._text(), "done"))
            case chunks.ReasoningEnd():
                self.parts.append(_Reasoning(self._text(), "done"))
            case chunks.ToolInputStart(call_id, name):
                self._tool(call_id, name)
            case chunks.ToolInputAvailable(call_id, name, given):
                tool = self._tool(call_id, name)
                tool.state, tool.input = "input-available", given
            case chunks.ToolOutputAvailable(call_id, output):
                tool = self._tools[call_id]
                tool.state, tool.output = "output-available", output
            case chunks.ToolOutputError(call_id, text):
                tool = self._tools[call_id]
                tool.state, tool.error_text = "output-error", text
            case chunks.File(url, media_type):
                self.parts.append(_File(media_type, url))
            case chunks.SourceUrl(source_id, url, title):
                self.parts.append(_SourceUrl(source_id, url, title))
            case chunks.DataQuestion(question_id, data):
                self._question(question_id, data)
            case chunks.Error(text):
                self.finish = _Finish(Reason.ERROR.value, text)
            case chunks.Abort():
                self.finish = _Finish(Reason.CANCELED.value)
            case (
                chunks.Start()
                | chunks.FinishStep()
                | chunks.ToolApprovalRequest()
                | chunks.TextStart()
                | chunks.ReasoningStart()
                | chunks.DataAgentStatus()
                | chunks.Finish()
            ):
                pass
            case _:
                assert_never(chunk)

    def _text(self) -> str:
        text = "".join(self._texts)
        self._texts.clear()
        return text

    def _tool(self, call_id: str, name: str) -> _Tool:
        tool = self._tools.get(call_id)
        if tool is None:
            tool = self._tools[call_id] = _Tool(f"tool-{name}", call_id)
            self.parts.append(tool)
        return tool

    def _question(self, question_id: str, data: Raw) -> None:
        question = self._questions.get(question_id)
        if question is None:
            question = self._questions[question_id] = _Question(question_id, data)
            self.parts.append(question)
        question.data = data
