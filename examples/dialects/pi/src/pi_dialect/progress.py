"""What the events of a turn tell: texts, calls, attempts, and how the last message ended."""

from typing import Final

import msgspec
from msgspec import Raw

import turnwire.dialect as td
from pi_dialect import frames
from pi_dialect.calls import Calls
from pi_dialect.texts import Texts

RETRIED: Final = "The attempt failed, and is made again"
BEGINS_AGAIN: Final = "The answer broke off, and begins again"
NO_ANSWER: Final = "The agent ended without an answer"
FAILED: Final = "The agent failed"

_ABORTED: Final = "aborted"
_ERROR: Final = "error"
_LENGTH: Final = "length"


class Progress:
    """The texts and the calls of a turn, and the verdict of its last message."""

    def __init__(self, frame_stats: td.FrameStats) -> None:
        self._frame_stats = frame_stats
        self._texts = Texts(frame_stats)
        self._calls = Calls(frame_stats)
        self._stop_reason: str | None = None
        self._error: str | None = None
        self._retries = 0
        self._usage = frames.Usage()

    @property
    def has_failed(self) -> bool:
        """Whether the last message ended with an error: another attempt may follow."""
        return self._stop_reason == _ERROR

    def take(self, event: frames.Event) -> list[td.Event]:
        """Return the events of our turn."""
        match event:
            case frames.MessageUpdate(assistant_message_event=update):
                return self._update(update)
            case frames.MessageStart(message=message):
                return self._begin_message(message)
            case frames.MessageEnd(message=message):
                return self._end_message(message)
            case frames.ToolExecutionStart():
                return self._calls.start(event.tool_call_id, event.tool_name, event.args)
            case frames.ToolExecutionUpdate():
                return self._calls.progress(event)
            case frames.ToolExecutionEnd():
                return self._calls.end(event)
            case frames.AutoRetryStart():
                return self._retry(event)
            case frames.CompactionStart():
                return [td.AgentStatus("compacting")]
            case frames.NotShown():
                self._frame_stats.count_left_out(frames.tag_of(type(event)), 0)
                return []
            case _:
                return []

    def end(self, *, is_canceled: bool) -> td.TurnFinished:
        """Return the end of the turn, by its last message. `is_canceled`: it was stopped."""
        usage = self._used()
        if is_canceled or self._stop_reason == _ABORTED:
            return td.TurnFinished(reason=td.Reason.CANCELED, usage=usage)
        error = None
        if self._stop_reason is None:
            error = NO_ANSWER
        elif self._stop_reason == _ERROR:
            error = self._error or FAILED
        if error is not None:
            return td.TurnFinished(reason=td.Reason.ERROR, error=error, usage=usage)
        cut_short = _LENGTH if self._stop_reason == _LENGTH else None
        return td.TurnFinished(reason=td.Reason.END_TURN, usage=usage, cut_short=cut_short)

    def _begin_message(self, message: frames.AgentMessage) -> list[td.Event]:
        """A message begins. Its first piece may stand in it, and comes again as a delta."""
        if message.role == "assistant":
            self._texts.begin_message()
            self._calls.begin_message()
            self._stop_reason = None
        return []

    def _update(self, update: frames.Update) -> list[td.Event]:
        index = update.content_index
        match update.type:
            case "text_delta" | "thinking_delta" as kind:
                is_reasoning = kind == "thinking_delta"
                return self._texts.write(index, update.delta, is_reasoning=is_reasoning)
            case "text_end" | "thinking_end" as kind:
                is_reasoning = kind == "thinking_end"
                return self._texts.end(index, update.content, is_reasoning=is_reasoning)
            case "toolcall_start":
                return self._calls.announce(index, update.id, update.tool_name)
            case "toolcall_delta":
                return self._calls.write(index, update.delta)
            case "toolcall_end":
                calls = frames.blocks_of(Raw(b"[%b]" % bytes(update.tool_call)))
                return [event for _, block in calls for event in self._calls.announced(block)]
            case _:
                return []

    def _end_message(self, message: frames.AgentMessage) -> list[td.Event]:
        """A message is whole: tell what no event before told."""
        if message.role == "toolResult":
            return self._calls.end_of_message(message)
        if message.role != "assistant":
            return []
        self._stop_reason, self._error = message.stop_reason or "stop", message.error_message
        self._add_usage(frames.usage_of(message))
        events: list[td.Event] = []
        for index, block in frames.blocks_of(message.content):
            match block.type:
                case "text":
                    text = frames.text_of(block)
                    events += self._texts.end(index, text, is_reasoning=False)
                case "thinking":
                    events += self._texts.end(index, block.thinking, is_reasoning=True)
                case "toolCall":
                    events += self._calls.announced(block)
                case _:
                    pass
        return events

    def _retry(self, event: frames.AutoRetryStart) -> list[td.Event]:
        """An attempt failed. What it told stays, and the next one tells it again."""
        self._retries += 1
        status = td.AgentStatus("retrying", f"attempt {event.attempt} of {event.max_attempts}")
        events: list[td.Event] = [*self._calls.fail_all(RETRIED), td.TextBreak(), status]
        if self._texts.has_text:
            shown = {"notice": "retried", "text": BEGINS_AGAIN}
            data = Raw(msgspec.json.encode(shown))
            events.append(td.DataPart("notice", f"retry-{self._retries}", data))
        return events

    def _add_usage(self, usage: frames.Usage) -> None:
        before = self._usage
        self._usage = frames.Usage(
            input=before.input + usage.input,
            output=before.output + usage.output,
            cache_read=before.cache_read + usage.cache_read,
            cache_write=before.cache_write + usage.cache_write,
        )

    def _used(self) -> Raw | None:
        """Return the tokens of all messages together, those of failed attempts too."""
        used = self._usage
        if used == frames.Usage():
            return None
        read = used.input + used.cache_read + used.cache_write
        counts = {
            "inputTokens": read,
            "outputTokens": used.output,
            "totalTokens": read + used.output,
            "cachedInputTokens": used.cache_read,
        }
        return Raw(msgspec.json.encode(counts))
