"""Converts the history into `UIMessage[]`, as a client would have it after all its streams.

Use: `ui_messages(history)`, or `ui_messages_in_steps(history, finish=...)` for a long history.

The events of each turn go through a `Translator`, and its chunks are put
together as a client does it. So there is only one mapping, and a message looks the same
whether it was streamed or loaded.
"""

from collections.abc import Sequence
from typing import Final, assert_never

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire.core import events, safe_json
from turnwire.core.events import Reason
from turnwire.core.operations import History, HistoryPrompt, HistoryTurn
from turnwire.core.steps import Steps, run_steps
from turnwire.core.ui_stream import chunks, media
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.core.ui_stream.translator import Translator

_AT_ONCE: Final = 64
"""Events or parts that are handled in one step, which takes half a millisecond."""

_PIECE_BYTES: Final = 65_536
"""Size of a piece of the output, at least, except for the last piece. A long message is not cut."""


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


class _Data(Struct):
    """Data of the agent's own kind. `type` is a field, not a tag, because it holds a name."""

    type: str
    data: Raw
    id: str | UnsetType = UNSET


class _Tool(Struct, rename="camel"):
    """A tool call. `type` is a field, not a tag, because it holds the tool's name."""

    type: str
    tool_call_id: str
    state: str = "input-streaming"
    provider_executed: bool = True
    input: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    error_text: str | UnsetType = UNSET


_AnyPart = _StepStart | _Text | _Reasoning | _File | _SourceUrl | _Question | _Data | _Tool


class _Finish(Struct, rename="camel"):
    """How a turn ended that failed or was stopped."""

    reason: str
    error_text: str | UnsetType = UNSET


class _Metadata(Struct):
    finish: _Finish


class _Message(Struct):
    id: str
    role: str
    parts: list[_AnyPart] | Raw
    metadata: _Metadata | UnsetType = UNSET


def ui_messages(history: History, *, finish: bool = False) -> bytes:
    """Return the messages of a history, as a JSON array for `useChat({messages})`.

    With `finish`, the metadata of an answer shows that its turn failed or was
    stopped, which its parts do not show. It is off by default, because apps with a
    metadata schema reject fields that the schema does not have.
    """
    return b"".join(run_steps(ui_messages_in_steps(history, finish=finish)))


def ui_messages_in_steps(history: History, *, finish: bool) -> Steps[Sequence[bytes]]:
    """Do the work of `ui_messages` in steps. Returns the JSON array in pieces, to be joined."""
    pieces: list[bytes] = []
    piece = bytearray(b"[")
    for entry in history.entries:
        match entry:
            case HistoryPrompt():
                message = _user_message(entry)
            case HistoryTurn():
                message = yield from _assistant_message(entry, finish=finish)
            case _:
                assert_never(entry)
        if pieces or len(piece) > 1:
            piece += b","
        piece += msgspec.json.encode(message)
        if len(piece) > _PIECE_BYTES:
            pieces.append(bytes(piece))
            piece.clear()
        yield
    piece += b"]"
    return [*pieces, bytes(piece)]


def _user_message(prompt: HistoryPrompt) -> _Message:
    parts: list[_AnyPart] = [
        _File(f.mime, safe_json.join_surrogates(f.url), UNSET if f.filename is None else f.filename)
        for f in prompt.files
        if media.is_file(f.url)
    ]
    if prompt.text or not parts:
        parts.append(_Text(safe_json.join_surrogates(prompt.text)))
    return _Message(safe_json.join_surrogates(prompt.message_id), "user", parts)


def _assistant_message(turn: HistoryTurn, *, finish: bool) -> Steps[_Message]:
    translator = Translator(usage=False, taken_id=None)
    builder = _MessageBuilder()
    for chunk in translator.feed(events.TurnStarted(turn.turn_id)):
        builder.take(chunk)
    for number, event in enumerate(turn.events):
        for chunk in translator.feed(event):
            builder.take(chunk)
        if number % _AT_ONCE == 0:
            yield
    metadata = _Metadata(builder.finish) if finish and builder.finish else UNSET
    parts = yield from _encode_parts(builder.parts)
    return _Message(safe_json.join_surrogates(turn.turn_id), "assistant", parts, metadata)


def _encode_parts(parts: list[_AnyPart]) -> Steps[list[_AnyPart] | Raw]:
    """Encode the parts in steps if they are many; else return them unchanged."""
    if len(parts) <= _AT_ONCE:
        return parts
    encoded: list[bytes] = []
    for first in range(0, len(parts), _AT_ONCE):
        encoded.append(msgspec.json.encode(parts[first : first + _AT_ONCE])[1:-1])
        yield
    return Raw(b"[%b]" % b",".join(encoded))


class _MessageBuilder:
    """Builds a message from chunks, as a client does."""

    def __init__(self) -> None:
        self.parts: list[_AnyPart] = []
        self.finish: _Finish | None = None
        """None if the turn ended normally."""
        self._texts: dict[str, tuple[_Text | _Reasoning, list[str]]] = {}
        """The open blocks by their ids: the part of each, and its text so far."""
        self._tools: dict[str, _Tool] = {}
        self._questions: dict[str, _Question] = {}
        self._data: dict[tuple[str, str], _Data] = {}

    def take(self, chunk: Chunk) -> None:
        match chunk:
            case chunks.StartStep():
                self.parts.append(_StepStart())
            case chunks.TextStart(block_id):
                self._begin_text(block_id, _Text("", "done"))
            case chunks.ReasoningStart(block_id):
                self._begin_text(block_id, _Reasoning("", "done"))
            case chunks.TextDelta(block_id, delta) | chunks.ReasoningDelta(block_id, delta):
                self._texts[block_id][1].append(delta)
            case chunks.TextEnd(block_id) | chunks.ReasoningEnd(block_id):
                part, texts = self._texts.pop(block_id)
                part.text = "".join(texts)
            case chunks.ToolInputStart(call_id, name):
                self._tool(call_id, name)
            case chunks.ToolInputAvailable(call_id, name, call_input):
                tool = self._tool(call_id, name)
                tool.state, tool.input = "input-available", call_input
            case chunks.ToolOutputAvailable(call_id, output):
                tool = self._tools[call_id]
                tool.state, tool.output = "output-available", output
                tool.error_text = UNSET
            case chunks.ToolOutputError(call_id, text):
                tool = self._tools[call_id]
                tool.state, tool.error_text = "output-error", text
            case chunks.File(url, media_type):
                self.parts.append(_File(media_type, url))
            case chunks.SourceUrl(source_id, url, title):
                self.parts.append(_SourceUrl(source_id, url, title))
            case chunks.DataQuestion(question_id, data):
                self._question(question_id, data)
            case chunks.DataPart() if not chunk.transient:
                self._data_part(chunk)
            case chunks.Error(text):
                self.finish = _Finish(Reason.ERROR.value, text)
            case chunks.Abort():
                self.finish = _Finish(Reason.CANCELED.value)
            case (
                chunks.Start()
                | chunks.FinishStep()
                | chunks.ResetStep()
                | chunks.ToolApprovalRequest()
                | chunks.ToolInputDelta()
                | chunks.ToolOutputPreliminary()
                | chunks.DataPart()
                | chunks.DataAgentStatus()
                | chunks.Finish()
            ):
                pass
            case _:
                assert_never(chunk)

    def _begin_text(self, block_id: str, part: _Text | _Reasoning) -> None:
        self.parts.append(part)
        self._texts[block_id] = part, []

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

    def _data_part(self, chunk: chunks.DataPart) -> None:
        part = None
        if isinstance(chunk.id, str):
            part = self._data.get((chunk.type, chunk.id))
        if part is not None:
            part.data = chunk.data
            return
        part = _Data(chunk.type, chunk.data, chunk.id)
        self.parts.append(part)
        if isinstance(chunk.id, str):
            self._data[chunk.type, chunk.id] = part
