"""The tool calls of a turn: announced in a message of the assistant, then run.

Each result is told three times. The first one counts.
"""

from typing import Final

import msgspec
from msgspec import Raw

import turnwire.dialect as td
from pi_dialect import frames

CALLS_MAX: Final = 256
"""Most calls without an outcome, and most announced in one message, that are kept."""
PARTIAL_BYTES_MAX: Final = 65_536
"""Longest result of a call that still runs that is shown, in bytes of its JSON: it comes again,
whole, with each piece."""

TOOL_FAILED: Final = "The tool failed"
_ABSENT: Final = frozenset({b"", b"null"})


class Calls:
    """The calls that have no outcome."""

    def __init__(self, frame_stats: td.FrameStats) -> None:
        self._frame_stats = frame_stats
        self._by_index: dict[int, tuple[str, str]] = {}
        """The id and the tool of the calls in the message that is told now."""
        self._open: dict[str, str] = {}
        """The tools of the calls without an outcome."""
        self._with_input: dict[str, None] = {}
        """Those of them whose input was told."""

    def begin_message(self) -> None:
        """Another message begins: its indexes are others."""
        self._by_index.clear()

    def announce(self, index: int, call_id: str, tool: str) -> list[td.Event]:
        """The model begins to write a call. An older pi does not say which."""
        if not call_id or not tool:
            return []
        td.keep(self._by_index, index, (call_id, tool), CALLS_MAX)
        self._add(call_id, tool)
        return [td.ToolInputDelta(call_id, tool, "")]

    def write(self, index: int, piece: str) -> list[td.Event]:
        """Return the events of a piece of an input."""
        call_id, tool = self._by_index.get(index, ("", ""))
        return [td.ToolInputDelta(call_id, tool, piece)] if piece and call_id in self._open else []

    def announced(self, block: frames.Block) -> list[td.Event]:
        """The model wrote a call, with its input."""
        if not block.id or not block.name:
            return []
        return self.start(block.id, block.name, block.arguments)

    def start(self, call_id: str, tool: str, args: Raw) -> list[td.Event]:
        """Return the events of a call with its input; none if that was told."""
        if call_id in self._with_input:
            return []
        self._add(call_id, tool)
        td.keep(self._with_input, call_id, None, CALLS_MAX)
        return [td.tool_update(call_id, tool, args=_present(args) or Raw(b"{}"))]

    def progress(self, event: frames.ToolExecutionUpdate) -> list[td.Event]:
        """Return the events of a result as far as it has come."""
        if len(event.partial_result) > PARTIAL_BYTES_MAX:
            self._frame_stats.count_left_out("progress of a tool", len(event.partial_result))
            return []
        output, _ = self._output(event.partial_result)
        if bytes(output) == b'""' or event.tool_call_id not in self._open:
            return []
        update = td.ToolUpdate(
            call_id=event.tool_call_id,
            tool_name=event.tool_name,
            phase=td.Phase.RUNNING,
            result=output,
            preliminary=True,
        )
        return [update]

    def end(self, event: frames.ToolExecutionEnd) -> list[td.Event]:
        """Return the events of an outcome."""
        self._remove(event.tool_call_id)
        output, files = self._output(event.result)
        return [_outcome(event.tool_call_id, event.tool_name, output, event.is_error), *files]

    def end_of_message(self, message: frames.AgentMessage) -> list[td.Event]:
        """Return the outcome that the message of a result tells, if none came before."""
        call_id = message.tool_call_id
        tool = self._open.get(call_id)
        if tool is None:
            return []
        self._remove(call_id)
        output, files = self._output_of(message.content)
        return [_outcome(call_id, tool, output, message.is_error), *files]

    def fail_all(self, why: str) -> list[td.Event]:
        """The calls without an outcome get none any more."""
        failed: list[td.Event] = [
            td.tool_update(call_id, tool, error=why) for call_id, tool in self._open.items()
        ]
        self._open.clear()
        self._with_input.clear()
        return failed

    def _add(self, call_id: str, tool: str) -> None:
        td.keep(self._open, call_id, tool, CALLS_MAX)

    def _remove(self, call_id: str) -> None:
        self._open.pop(call_id, None)
        self._with_input.pop(call_id, None)

    def _output(self, result: Raw) -> tuple[Raw, list[td.Event]]:
        """Return what a result tells, and its files; of another shape, the result as it is."""
        content = frames.content_of(result)
        if content is None:
            return _present(result) or Raw(b"null"), []
        return self._output_of(content)

    def _output_of(self, content: Raw) -> tuple[Raw, list[td.Event]]:
        texts: list[Raw] = []
        files: list[td.Event] = []
        for _, block in frames.blocks_of(content):
            if block.type == "text" and frames.is_string(block.text):
                texts.append(block.text)
            elif block.type == "image" and block.data and block.mime_type:
                url = f"data:{block.mime_type};base64,{block.data}"
                files.append(td.FilePart(url, block.mime_type))
            else:
                self._frame_stats.count_left_out("part of a result", 0)
        if len(texts) == 1:  # it may have megabytes, and is handed on as it came
            return texts[0], files
        whole = "".join(frames.decode_text(each) for each in texts)
        return Raw(msgspec.json.encode(whole)), files


def _present(raw: Raw) -> Raw | None:
    return None if bytes(memoryview(raw)[:5]) in _ABSENT else raw


def _outcome(call_id: str, tool: str, output: Raw, is_error: bool) -> td.Event:  # noqa: FBT001
    if not is_error:
        return td.tool_update(call_id, tool, result=output)
    return td.tool_update(call_id, tool, error=td.error_message(output) or TOOL_FAILED)
