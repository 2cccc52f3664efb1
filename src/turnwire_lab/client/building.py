"""A message from its chunks, with the rules that the strictest released clients have.

What they merely tolerate is an error here too, so that a test which reads a stream through this
client has checked its order.
"""

from typing import assert_never

from msgspec import structs

from turnwire_lab.client import chunks
from turnwire_lab.client.chunks import Chunk, Data
from turnwire_lab.client.errors import Malformed
from turnwire_lab.client.message import (
    File,
    Part,
    Reasoning,
    Source,
    StepStart,
    Text,
    Tool,
    UIMessage,
)
from turnwire_lab.client.question import Question


class Building:
    """One message, from `start` to `finish`. Before `start` it has no id."""

    def __init__(self) -> None:
        self.message = UIMessage("", "assistant", [])
        self.has_started = False
        self.has_finished = False
        self._blocks: dict[tuple[type[Text | Reasoning], str], Text | Reasoning] = {}
        self._tools: dict[str, Tool] = {}
        self._data: dict[tuple[str, str], int] = {}

    def take(self, chunk: Chunk) -> None:
        """Add a chunk.

        Raises:
            Malformed: it cannot stand there.

        """
        if self.has_finished:
            raise Malformed(f"a {_name(chunk)} comes after the finish")
        match chunk:
            case chunks.Start(message_id, metadata):
                self._start(message_id)
                self._add_metadata(metadata)
            case chunks.AgentStatus() | Data(transient=True):
                pass
            case _ if not self.has_started:
                raise Malformed(f"a {_name(chunk)} comes before the start")
            case chunks.StartStep():
                self.message.parts.append(StepStart())
            case chunks.TextStart(block_id):
                self._open(block_id, Text("", "streaming"))
            case chunks.ReasoningStart(block_id):
                self._open(block_id, Reasoning("", "streaming"))
            case chunks.TextDelta(block_id, delta):
                self._block(Text, block_id).text += delta
            case chunks.ReasoningDelta(block_id, delta):
                self._block(Reasoning, block_id).text += delta
            case chunks.TextEnd(block_id):
                self._close(Text, block_id)
            case chunks.ReasoningEnd(block_id):
                self._close(Reasoning, block_id)
            case (
                chunks.ToolInputStart()
                | chunks.ToolInputDelta()
                | chunks.ToolInputAvailable()
                | chunks.ToolApprovalRequest()
                | chunks.ToolOutputAvailable()
                | chunks.ToolOutputError()
                | chunks.ToolOutputDenied()
            ):
                self._take_of_tool(chunk)
            case chunks.File(url, media_type):
                self.message.parts.append(File(url, media_type))
            case chunks.SourceUrl(source_id, url, title):
                self.message.parts.append(Source(source_id, url, title))
            case Question():
                self._put("question", chunk.id, chunk)
            case Data(name, _, data_id):
                self._put(name, data_id, structs.replace(chunk, transient=False))
            case chunks.Metadata(metadata):
                self._add_metadata(metadata)
            case chunks.Finish(metadata):
                self._add_metadata(metadata)
                self._finish()
            case chunks.FinishStep() | chunks.Error() | chunks.Abort():
                self._all_closed(_name(chunk))
            case _:
                assert_never(chunk)

    def _take_of_tool(self, chunk: chunks.OfTool) -> None:
        match chunk:
            case chunks.ToolInputStart(call_id, name):
                self._call(call_id, name)
            case chunks.ToolInputDelta(call_id):
                if self._tool(call_id).state != "input-streaming":
                    raise Malformed(f"the input of the call {call_id!r} goes on after its end")
            case chunks.ToolInputAvailable(call_id, name, given):
                tool = self._tools.get(call_id) or self._call(call_id, name)
                tool.state, tool.input = "input-available", given
            case chunks.ToolApprovalRequest(call_id, approval_id):
                tool = self._tool(call_id)
                tool.state, tool.approval_id = "approval-requested", approval_id
            case chunks.ToolOutputAvailable(call_id, output):
                # A preliminary one is replaced by the next.
                tool = self._tool(call_id)
                tool.state, tool.output = "output-available", output
            case chunks.ToolOutputError(call_id, text):
                tool = self._tool(call_id)
                tool.state, tool.error_text = "output-error", text
            case chunks.ToolOutputDenied(call_id):
                self._tool(call_id).state = "output-denied"
            case _:
                assert_never(chunk)

    def _start(self, message_id: str | None) -> None:
        if self.has_started:
            raise Malformed("the stream starts twice")
        self.has_started = True
        self.message.id = message_id or ""

    def _finish(self) -> None:
        self._all_closed("finish")
        for tool in self._tools.values():
            if tool.state in {"input-streaming", "input-available"}:
                raise Malformed(f"the call {tool.tool_call_id!r} has no outcome at the finish")
        self.has_finished = True

    def _all_closed(self, at: str) -> None:
        for _, block_id in self._blocks:
            raise Malformed(f"the block {block_id!r} is open at the {at}")

    def _open(self, block_id: str, part: Text | Reasoning) -> None:
        if (type(part), block_id) in self._blocks:
            raise Malformed(f"the block {block_id!r} opens twice")
        self._blocks[type(part), block_id] = part
        self.message.parts.append(part)

    def _block(self, kind: type[Text | Reasoning], block_id: str) -> Text | Reasoning:
        try:
            return self._blocks[kind, block_id]
        except KeyError:
            raise Malformed(f"the block {block_id!r} is not open") from None

    def _close(self, kind: type[Text | Reasoning], block_id: str) -> None:
        self._block(kind, block_id).state = "done"
        del self._blocks[kind, block_id]

    def _call(self, call_id: str, name: str) -> Tool:
        if call_id in self._tools:
            raise Malformed(f"the call {call_id!r} begins twice")
        tool = self._tools[call_id] = Tool(name=name, tool_call_id=call_id)
        self.message.parts.append(tool)
        return tool

    def _tool(self, call_id: str) -> Tool:
        try:
            return self._tools[call_id]
        except KeyError:
            raise Malformed(f"the call {call_id!r} was not told before") from None

    def _put(self, name: str, data_id: str | None, part: Question | Data) -> None:
        parts: list[Part] = self.message.parts
        if data_id is None:
            parts.append(part)
        elif (name, data_id) in self._data:
            parts[self._data[name, data_id]] = part
        else:
            self._data[name, data_id] = len(parts)
            parts.append(part)

    def _add_metadata(self, metadata: object) -> None:
        before = self.message.metadata
        if isinstance(before, dict) and isinstance(metadata, dict):
            self.message.metadata = before | metadata
        elif metadata is not None:
            self.message.metadata = metadata


def _name(chunk: Chunk) -> str:
    return type(chunk).__name__
