"""A message as the AI SDK's `useChat` holds it, and how it is put together from chunks."""

from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from turnwire_client import chunks, events
from turnwire_client.chunks import DATA, Chunk
from turnwire_client.events import Data

ASKED: Final = "approval-requested"
"""The state of a call that waits for a native approval."""
RESPONDED: Final = "approval-responded"

Part: TypeAlias = dict[str, Any]
"""A part as JSON has it: `{"type": "text", "text": …}`, `{"type": "tool-NAME", …}` and so on."""


class UIMessage(Struct):
    """A message of the history, or of a turn. `parts` are those of the AI SDK's `UIMessage`."""

    id: str
    role: Literal["user", "assistant", "system"]
    parts: list[Part] = []
    metadata: Any = None

    @property
    def text(self) -> str:
        """The text of all text parts."""
        return "".join(part.get("text", "") for part in self.parts if part["type"] == "text")


class Building:
    """The message of one stream, as far as it came."""

    def __init__(self) -> None:
        self.message_id: str | None = None
        self._metadata: Any = None
        self._parts: list[Part] = []
        self._blocks: dict[tuple[str, str], tuple[Part, list[str]]] = {}
        """The open blocks by type and id: the part, and its text in pieces."""
        self._tools: dict[str, Part] = {}
        self._data: dict[tuple[str, str], Part] = {}
        self._is_in_step = False

    @property
    def message(self) -> UIMessage:
        """The message so far. Its parts change no more when further chunks come."""
        for part, pieces in self._blocks.values():
            part["text"] += "".join(pieces)
            pieces.clear()
        parts = [dict(part) for part in self._parts]
        return UIMessage(self.message_id or "", "assistant", parts, self._metadata)

    @property
    def is_asking(self) -> bool:
        """Whether a call waits for its approval."""
        return any(part.get("state") == ASKED for part in self._tools.values())

    @property
    def is_in_step(self) -> bool:
        """Whether a step has begun, and has not ended."""
        return self._is_in_step

    def call(self, call_id: str) -> Part:
        """The part of a call, as far as it came."""
        return self._tool(call_id)

    def respond(self, message: UIMessage) -> None:
        """Take over what a message says of the approvals of its calls."""
        for part in message.parts:
            if part.get("state") == RESPONDED:
                self._tool(part["toolCallId"]).update(part)

    def take(self, chunk: Chunk) -> None:
        match chunk:
            case chunks.Start():
                self.message_id = chunk.message_id or self.message_id
                self._add_metadata(chunk.message_metadata)
            case events.Finish() | events.Abort() | events.Error():
                self._add_metadata(chunk.message_metadata)
            case events.StartStep():
                self._parts.append({"type": "step-start"})
                self._is_in_step = True
            case events.FinishStep():
                self._is_in_step = False
            case chunks.ResetStep():
                self._reset_step()
            case chunks.TextStart(block_id):
                self._open("text", block_id)
            case chunks.ReasoningStart(block_id):
                self._open("reasoning", block_id)
            case events.TextDelta(block_id, delta):
                self._block("text", block_id)[1].append(delta)
            case events.ReasoningDelta(block_id, delta):
                self._block("reasoning", block_id)[1].append(delta)
            case chunks.TextEnd(block_id):
                self._close("text", block_id)
            case chunks.ReasoningEnd(block_id):
                self._close("reasoning", block_id)
            case events.ToolInputStart(call_id, name):
                self._call(call_id, name)["state"] = "input-streaming"
            case events.ToolInputAvailable(call_id, name, value):
                self._call(call_id, name).update(state="input-available", input=value)
            case chunks.ApprovalRequest(approval_id, call_id):
                self._tool(call_id).update(state=ASKED, approval={"id": approval_id})
            case events.ToolOutputAvailable(call_id, output, preliminary):
                more = {"preliminary": True} if preliminary else {}
                self._outcome(call_id, state="output-available", output=output, **more)
            case events.ToolOutputError(call_id, text):
                self._outcome(call_id, state="output-error", errorText=text)
            case events.File(url, media_type):
                self._parts.append({"type": "file", "url": url, "mediaType": media_type})
            case events.SourceUrl(source_id, url, title):
                titled = {} if title is None else {"title": title}
                source = {"type": "source-url", "sourceId": source_id, "url": url}
                self._parts.append(source | titled)
            case Data():
                self._put(chunk)
            case events.ToolInputDelta():
                pass

    def _outcome(self, call_id: str, **fields: Any) -> None:
        """Replace the outcome of a call so far: a preliminary one, or an error in its place."""
        part = self._tool(call_id)
        for name in ("preliminary", "output", "errorText"):
            part.pop(name, None)
        part.update(fields)

    def _reset_step(self) -> None:
        """Forget what came behind the start of the step. It has no data with an id."""
        begun = [each for each, part in enumerate(self._parts) if part["type"] == "step-start"]
        del self._parts[begun[-1] + 1 if begun else 0 :]
        kept = {id(part) for part in self._parts}
        self._tools = {name: part for name, part in self._tools.items() if id(part) in kept}
        self._blocks.clear()

    def _open(self, kind: str, block_id: str) -> tuple[Part, list[str]]:
        part: Part = {"type": kind, "text": "", "state": "streaming"}
        self._parts.append(part)
        block = self._blocks[kind, block_id] = part, []
        return block

    def _block(self, kind: str, block_id: str) -> tuple[Part, list[str]]:
        return self._blocks.get((kind, block_id)) or self._open(kind, block_id)

    def _close(self, kind: str, block_id: str) -> None:
        part, pieces = self._block(kind, block_id)
        part.update(text=part["text"] + "".join(pieces), state="done")
        del self._blocks[kind, block_id]

    def _call(self, call_id: str, name: str) -> Part:
        part = self._tool(call_id)
        part["type"] = f"tool-{name}"
        return part

    def _tool(self, call_id: str) -> Part:
        if call_id not in self._tools:
            part: Part = {"type": "tool-", "toolCallId": call_id, "providerExecuted": True}
            self._tools[call_id] = part
            self._parts.append(part)
        return self._tools[call_id]

    def _put(self, chunk: Data) -> None:
        if chunk.transient:
            return
        part: Part = {"type": DATA + chunk.name, "data": chunk.data}
        if chunk.id is None:
            self._parts.append(part)
        elif (chunk.name, chunk.id) in self._data:
            self._data[chunk.name, chunk.id]["data"] = chunk.data
        else:
            self._data[chunk.name, chunk.id] = part
            part["id"] = chunk.id
            self._parts.append(part)

    def _add_metadata(self, metadata: Any) -> None:
        if isinstance(self._metadata, dict) and isinstance(metadata, dict):
            self._metadata = self._metadata | metadata
        elif metadata is not None:
            self._metadata = metadata


def shown_by(tool_name: str | None, value: Any) -> bytes:
    """What a user sees of a call: tool and input. Equal where both are; `true` is not `1`."""
    return msgspec.json.encode([tool_name, value], order="deterministic")


def shown_at(part: Part) -> bytes:
    """The same of a part that is a call."""
    return shown_by(part["type"].removeprefix("tool-") or None, part.get("input"))


def chunks_of(message: UIMessage, *, is_whole: bool = True) -> Iterator[Chunk]:
    """The chunks that give this message, without its start and its end. Unknown parts are left out.

    Each text comes as one delta. `is_whole`: the last step has ended.
    """
    is_in_step = False
    for number, part in enumerate(message.parts):
        kind: str = part["type"]
        if kind == "step-start":
            if is_in_step:
                yield events.FinishStep()
            is_in_step = True
            yield events.StartStep()
        else:
            yield from _chunks_of_part(kind, f"{message.id}:{number}", part)
    if is_in_step and is_whole:
        yield events.FinishStep()


def _chunks_of_part(kind: str, block_id: str, part: Part) -> Iterator[Chunk]:
    match kind:
        case "text":
            yield chunks.TextStart(block_id)
            yield events.TextDelta(block_id, part["text"])
            yield chunks.TextEnd(block_id)
        case "reasoning":
            yield chunks.ReasoningStart(block_id)
            yield events.ReasoningDelta(block_id, part["text"])
            yield chunks.ReasoningEnd(block_id)
        case "file":
            yield events.File(part["url"], part["mediaType"])
        case "source-url":
            yield events.SourceUrl(part["sourceId"], part["url"], part.get("title"))
        case _ if kind.startswith(DATA):
            yield Data(kind.removeprefix(DATA), part["data"], part.get("id"))
        case _ if kind.startswith("tool-"):
            yield from _chunks_of_call(part["toolCallId"], kind.removeprefix("tool-"), part)
        case _:
            pass  # of a newer gateway


def _chunks_of_call(call_id: str, name: str, part: Part) -> Iterator[Chunk]:
    if "input" not in part:
        yield events.ToolInputStart(call_id, name)
    else:
        yield events.ToolInputAvailable(call_id, name, part["input"])
    if part.get("state") == ASKED:
        yield chunks.ApprovalRequest(part["approval"]["id"], call_id)
    if "output" in part:
        is_preliminary = part.get("preliminary") is True
        yield events.ToolOutputAvailable(call_id, part["output"], is_preliminary)
    elif "errorText" in part:
        yield events.ToolOutputError(call_id, part["errorText"])
