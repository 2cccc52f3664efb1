"""What the chunks of a response tell: text, reasoning, calls, files, data, requests for approvals.

`Progress` goes on from one response of a turn to the next. It knows nothing of where a response
begins and how it ends (`turn`).
"""

import re
from typing import Final, assert_never

from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.body.conversation import Result
from turnwire.core.bounds import DATA_NAME, OPEN_QUESTIONS_MAX
from turnwire.core.events import (
    DataPart,
    Event,
    FilePart,
    ReasoningDelta,
    SourceUrl,
    TextDelta,
)
from turnwire.core.ui_stream import media
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.open_blocks import OpenBlocks
from turnwire.dialects.ui_stream import frames
from turnwire.dialects.ui_stream.approvals import Asked
from turnwire.dialects.ui_stream.calls import Calls
from turnwire.dialects.ui_stream.frames import ContentFrame
from turnwire.dialects.ui_stream.messages import NO_RESULT
from turnwire.dialects.ui_stream.transcript import Transcript

DATA_BYTES_MAX: Final = 262_144
"""Longest data part that is sent on, in bytes of its JSON."""

REASON_MAX: Final = 2_000
"""Longest reason for a request that the user is shown, in characters."""

OURS: Final = frozenset({"agent-status", "question"})
"""Names of the gateway's own data parts. No agent writes one."""

DENIED: Final = "The user denied this call"

_is_name: Final = re.compile(DATA_NAME).match


class Progress:
    """What a turn tells the client. `take` returns the events of one chunk."""

    def __init__(self, frame_stats: FrameStats, transcript: Transcript) -> None:
        self.calls = Calls()
        self.transcript = transcript
        self.asked: dict[str, Asked] = {}
        """The requests for approvals of this response, by the id of the call."""
        self.has_unreadable = False
        """Whether this response asks something that nobody can be asked."""
        self.denials: dict[str, str] = {}
        """Why users denied calls, by the id of the call, as far as they say."""
        self._blocks = OpenBlocks()
        self._frame_stats = frame_stats

    @property
    def fast_id(self) -> str | None:
        """The text whose next delta is a delta and nothing else; None if there is none."""
        return self._blocks.text_id

    def next_response(self) -> None:
        """Another response of this turn begins."""
        self.asked, self.has_unreadable = {}, False
        self._blocks.clear()

    def take(self, frame: ContentFrame, size: int) -> list[Event]:
        """Return the events of a chunk, which has `size` bytes."""
        match frame:
            case frames.TextDelta(id=block_id, delta=delta):
                if not delta:
                    return []
                self.transcript.text(block_id, delta)
                return [*self._blocks.write(TextDelta, block_id), TextDelta(delta)]
            case frames.ReasoningDelta(id=block_id, delta=delta):
                if not delta:
                    return []
                self.transcript.end_texts()
                return [*self._blocks.write(ReasoningDelta, block_id), ReasoningDelta(delta)]
            case frames.TextEnd(id=block_id):
                self.transcript.end_text(block_id)
                return self._blocks.end(TextDelta, block_id)
            case frames.ReasoningEnd(id=block_id, provider_metadata=metadata):
                if metadata:
                    self._frame_stats.count_left_out("providerMetadata of reasoning", len(metadata))
                return self._blocks.end(ReasoningDelta, block_id)
            case frames.Start() | frames.TextStart() | frames.ReasoningStart():
                return []
            case frames.StartStep():
                self.transcript.step()
                return self._blocks.end_all()
            case frames.FinishStep():
                self.transcript.end_texts()
                return self._blocks.end_all()
            case frames.ResetStep():
                self._frame_stats.count_left_out("reset-step", size)
                self.transcript.end_texts()
                return self._blocks.end_all()
            case frames.ToolInputStart(tool_call_id=call_id, tool_name=name):
                return self.calls.start(call_id, name)
            case frames.ToolInputDelta(tool_call_id=call_id, input_text_delta=text):
                return self.calls.piece(call_id, text)
            case frames.ToolInputAvailable(tool_call_id=call_id, tool_name=name, input=given):
                return self._input(call_id, name, given)
            case frames.ToolInputError(tool_call_id=call_id, tool_name=name, input=given):
                return [
                    *self._input(call_id, name, given),
                    *self.failed(call_id, safe_json.error_message(frame.error_text)),
                ]
            case frames.ToolOutputAvailable(tool_call_id=call_id, preliminary=True):
                return self.calls.preliminary(call_id, frame.output or Raw(b"null"))
            case frames.ToolOutputAvailable(tool_call_id=call_id, output=output):
                return self._output(call_id, output or Raw(b"null"))
            case frames.ToolOutputError(tool_call_id=call_id, error_text=error):
                return self.failed(call_id, safe_json.error_message(error))
            case frames.ToolOutputDenied(tool_call_id=call_id):
                return self.failed(call_id, self.denials.pop(call_id, DENIED))
            case frames.ToolApprovalRequest():
                return self._ask(frame, size)
            case frames.SourceUrl(source_id=source_id, url=url, title=title):
                return self._shown(SourceUrl(source_id or url, url, title), size)
            case frames.File(url=url, media_type=mime):
                return self._shown(FilePart(url, mime), size)
            case frames.Skipped():
                self._frame_stats.count_left_out(str(type(frame).__struct_config__.tag), size)
                return []
            case _:
                assert_never(frame)

    def _shown(self, part: SourceUrl | FilePart, size: int) -> list[Event]:
        """Return a source or a file, unless no client is sent its URL."""
        if not media.is_shown(part):
            kind = "source-url" if isinstance(part, SourceUrl) else "file"
            self._frame_stats.count_left_out(f"{kind} with a URL that no client is sent", size)
            return []
        return [part]

    def data(self, part: frames.DataPart) -> list[Event]:
        """Return the event of a data part, unless it is too long or its name is none."""
        name = part.type.removeprefix(frames.DATA)
        if len(part.data) > DATA_BYTES_MAX:
            self._frame_stats.count_left_out("data part that is too large", len(part.data))
            return []
        if name in OURS or not _is_name(name):
            self._frame_stats.count_left_out("data part with a name of no client", len(part.data))
            return []
        return [DataPart(name, part.id or None, part.data, transient=part.transient is True)]

    def failed(self, call_id: str, error: str | None) -> list[Event]:
        self.asked.pop(call_id, None)
        self.transcript.result(Result("", call_id, "", None, error or NO_RESULT))
        return self.calls.failed(call_id, error)

    def _output(self, call_id: str, output: Raw) -> list[Event]:
        self.asked.pop(call_id, None)
        self.transcript.result(Result("", call_id, "", output))
        return self.calls.output(call_id, output)

    def _input(self, call_id: str, name: str, given: Raw) -> list[Event]:
        new = self.calls.input(call_id, name, given)
        call = self.calls.described(call_id)
        if call is not None:
            self.transcript.call(call)
        return new

    def _ask(self, request: frames.ToolApprovalRequest, size: int) -> list[Event]:
        """Note a request for an approval: it counts when the response is over."""
        if bytes(request.is_automatic) == b"true":  # the agent answers it itself
            self._frame_stats.count_left_out("automatic approval", size)
            return []
        call_id = safe_json.short_string(request.tool_call_id) or ""
        pieces = self.calls.joined_input(call_id)
        new = [] if pieces is None else self._input(call_id, "", pieces)
        approval_id = safe_json.short_string(request.approval_id)
        signature: str | None = ""
        if bytes(request.signature) not in {b"", b"null"}:
            signature = safe_json.short_string(request.signature)
        is_full = call_id not in self.asked and len(self.asked) >= OPEN_QUESTIONS_MAX
        if is_full or not call_id or not approval_id or signature is None:
            self._frame_stats.count_left_out("approval that nobody can be asked", size)
            self.has_unreadable = True
            return new
        reason = (safe_json.string(request.reason) or "")[:REASON_MAX]
        self.asked[call_id] = Asked(approval_id, call_id, signature, reason)
        return new
