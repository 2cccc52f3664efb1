"""Frames from events. Each is encoded once, for all sockets of a session."""

from collections.abc import Iterator
from typing import Final, assert_never

from msgspec import UNSET, Raw, UnsetType

from turnwire_agent.llm.events import Usage
from turnwire_agent.session.deltas import (
    DataSet,
    Delta,
    FileAdded,
    InputAdded,
    PreliminaryResult,
    ReasoningAdded,
    SourceAdded,
    StatusChanged,
    TextAdded,
)
from turnwire_agent.session.events import (
    AttemptLost,
    CallBegun,
    CallEnded,
    Compacted,
    Event,
    Prompted,
    PromptRepeated,
    PromptTakenBack,
    QuestionAsked,
    QuestionClosed,
    StepBegun,
    StepEnded,
    Streamed,
    TurnBegun,
    TurnEnded,
    TurnParked,
    TurnTakenOver,
)
from turnwire_agent.session.history import Exchange
from turnwire_agent.session.parts import is_open, open_call_error, shown_error, shown_value
from turnwire_agent.session.running import RunningTurn
from turnwire_agent.session.state import SessionState
from turnwire_agent.v2 import wire
from turnwire_agent.v2.hidden import Secrets, no_secrets, shown_input

TAKEN_BACK: Final = "The prompt was taken back"
THINKING: Final = "thinking"
STATUSES: Final = frozenset({"idle", THINKING, "streaming", "tool_calling", "error"})
"""What a gateway takes as a status."""

PONG: Final = wire.encoded(wire.Pong())


class Frames:
    """Writes frames. It keeps nothing but the names of the secret arguments."""

    def __init__(self, secrets: Secrets = no_secrets) -> None:
        """Take what people are not shown.

        Args:
            secrets: Called with the name of a tool; returns the names of its secret arguments.

        """
        self._secrets = secrets

    def of(self, event: Event, state: SessionState) -> list[bytes]:
        """What all sockets of a session are sent of an event.

        Args:
            event: One that is committed.
            state: As it was before the event.

        """
        if isinstance(event, Streamed) and len(event.deltas) == 1:  # nearly all of them
            delta = event.deltas[0]
            if isinstance(delta, TextAdded):
                running = state.running
                if running is None or running.turn_id != event.turn_id or not delta.text:
                    return []
                return [wire.encoded(wire.TextDelta(event.turn_id, delta.text))]
        return [wire.encoded(frame) for frame in self._frames(event, state)]

    def args(self, tool: str, call_input: Raw | UnsetType) -> Raw | UnsetType:
        """The input of a call for people."""
        return UNSET if call_input is UNSET else shown_input(call_input, self._secrets(tool))

    def shows_pieces(self, tool: str) -> bool:
        """Whether people may see the input of this tool while a model writes it."""
        return not self._secrets(tool)

    def question(
        self,
        asked: QuestionAsked,
        answer: Raw | UnsetType = UNSET,
        *,
        expired: bool = False,
    ) -> wire.Question:
        """A question, as a frame or as a part of `init`."""
        tool = asked.tool or ""
        return wire.Question(
            question_id=asked.question_id,
            turn_id=asked.turn_id,
            text=asked.text,
            options=asked.options,
            expires_at=None if asked.expires_at is None else int(asked.expires_at * 1000),
            kind=None if asked.call_id is None else "approval",
            call_id=asked.call_id,
            tool_name=asked.tool,
            args=self.args(tool, asked.input),
            answer=answer,
            expired=expired,
        )

    def _frames(self, event: Event, state: SessionState) -> Iterator[wire.Frame]:
        match event:
            case Prompted() | PromptRepeated():
                return
            case PromptTakenBack(entry_id):
                exchange = state.history.waiting(entry_id)
                for prompt_id in () if exchange is None else exchange.prompt_ids:
                    yield wire.AgentError(TAKEN_BACK, prompt_id=prompt_id)
            case TurnBegun(turn_id=turn_id, entry_id=entry_id):
                exchange = state.history.waiting(entry_id)
                if exchange is not None and state.running is None:
                    yield from _created(turn_id, exchange)
                    yield wire.AgentStatus(THINKING, turn_id=turn_id)
            case _:
                running = state.running
                if running is not None and running.turn_id == event.turn_id:
                    yield from self._of_turn(event, running)

    def _of_turn(self, event: Event, running: RunningTurn) -> Iterator[wire.Frame]:
        turn_id, parts = running.turn_id, running.parts
        match event:
            case Streamed(deltas=deltas):
                yield from self._streamed(deltas, running)
            case StepBegun() if parts.marks_step:
                yield wire.Step(turn_id)
            case AttemptLost(since=since) if since < len(parts):
                yield wire.Retract(turn_id, since)
            case CallBegun(call_id=call_id, tool=tool, input=call_input):
                call = parts.call(call_id)
                if call is None or is_open(call):
                    args = self.args(tool, call_input)
                    yield wire.ToolUpdate(turn_id, call_id, tool, "running", args)
            case CallEnded(call_id=call_id):
                call = parts.call(call_id)
                if call is None or is_open(call):
                    yield self._ended(event, has_input=call is not None and call.input is not UNSET)
            case QuestionAsked():
                yield from self._asked(event, running)
            case QuestionClosed(question_id=question_id, answer=answer):
                if running.open_question(question_id) is not None:
                    yield _closed(turn_id, question_id, answer)
            case TurnEnded():
                yield from self._end(event, running)
            case (
                Prompted()
                | PromptTakenBack()
                | PromptRepeated()
                | TurnBegun()
                | StepBegun()
                | StepEnded()
                | AttemptLost()
                | Compacted()
                | TurnTakenOver()
                | TurnParked()
            ):
                return
            case _:
                assert_never(event)

    def _streamed(self, deltas: tuple[Delta, ...], running: RunningTurn) -> Iterator[wire.Frame]:
        turn_id, parts = running.turn_id, running.parts
        new_calls: set[str] = set()
        """Calls that begin among these deltas."""
        whole: set[str] = set()
        """Calls whose input no piece may follow any more."""
        for delta in deltas:
            match delta:
                case TextAdded(text):
                    if text:
                        yield wire.TextDelta(turn_id, text)
                case ReasoningAdded(text):
                    if text:
                        yield wire.ReasoningDelta(turn_id, text)
                case InputAdded(call_id, tool, text):
                    if call_id not in new_calls and not parts.has_call(call_id):
                        new_calls.add(call_id)
                        yield wire.ToolUpdate(turn_id, call_id, tool, "pending")
                    takes = parts.takes_input(call_id) and call_id not in whole
                    if text and takes and self.shows_pieces(tool):
                        yield wire.ToolInputDelta(turn_id, call_id, tool, text)
                case PreliminaryResult(call_id, tool, value):
                    call = parts.call(call_id)
                    if call is None or is_open(call):
                        new_calls.add(call_id)
                        whole.add(call_id)
                        yield wire.ToolUpdate(
                            turn_id, call_id, tool, "running", result=value, preliminary=True
                        )
                case FileAdded(mime, url, filename):
                    yield wire.File(turn_id, mime, url, filename)
                case SourceAdded(source_id, url, title):
                    yield wire.Source(turn_id, source_id, url, title)
                case DataSet(name, value, data_id, transient):
                    yield wire.Data(turn_id, name, value, data_id or None, transient)
                case StatusChanged(status, detail):
                    yield _status(turn_id, status, detail)
                case _:
                    assert_never(delta)

    def _ended(self, ended: CallEnded, *, has_input: bool) -> wire.ToolUpdate:
        is_done = ended.outcome == "done"
        return wire.ToolUpdate(
            ended.turn_id,
            ended.call_id,
            ended.tool,
            "completed" if is_done else "error",
            args=UNSET if has_input else self.args(ended.tool, ended.input),
            result=shown_value(ended) if is_done else UNSET,
            error=UNSET if is_done else shown_error(ended),
        )

    def _asked(self, asked: QuestionAsked, running: RunningTurn) -> Iterator[wire.Frame]:
        question = self.question(asked)
        if asked.call_id is not None:
            call = running.parts.call(asked.call_id)
            if call is None or is_open(call):
                tool = asked.tool or ""
                yield wire.ToolUpdate(
                    asked.turn_id, asked.call_id, tool, "running", args=question.args
                )
        yield question

    def _end(self, ended: TurnEnded, running: RunningTurn) -> Iterator[wire.Frame]:
        turn_id = ended.turn_id
        for asked in running.open_questions:
            yield wire.QuestionExpired(asked.question_id, turn_id)
        error = open_call_error(ended.reason)
        for call in running.parts.open_calls():
            yield wire.ToolUpdate(turn_id, call.call_id, call.tool, "error", error=error)
        yield wire.Finalize(
            turn_id,
            ended.reason,
            ended.finish_reason,
            ended.error,
            None if ended.usage is None else tokens(ended.usage),
        )
        prompt_ids = running.exchange.prompt_ids
        yield wire.Complete(turn_id, prompt_ids[0] if prompt_ids else UNSET)


def created(turn_id: str, exchange: Exchange, prompt_id: str | None) -> wire.MessageCreate:
    """The beginning of a turn, for the socket that sent the prompt with this id."""
    prompt = exchange.prompt
    return wire.MessageCreate(
        turn_id,
        prompt_id=UNSET if prompt_id is None else prompt_id,
        user_id=UNSET if prompt.user_id is None else prompt.user_id,
        channel_type=prompt.channel.type,
        channel_id=prompt.channel.id,
    )


def _created(turn_id: str, exchange: Exchange) -> Iterator[wire.Frame]:
    """One frame for each socket that waits for this turn, by its prompt id."""
    if not exchange.prompt_ids:
        yield created(turn_id, exchange, None)
    for prompt_id in exchange.prompt_ids:
        yield created(turn_id, exchange, prompt_id)


def refused(error: str, prompt_id: str | None) -> bytes:
    """What the socket of a prompt that is not accepted is sent."""
    named = UNSET if prompt_id is None else prompt_id
    return wire.encoded(wire.AgentError(error, prompt_id=named))


def joined(user_id: str | None) -> bytes:
    """What the other sockets are sent when a user opens one."""
    return wire.encoded(wire.UserJoined(user_id))


def tokens(usage: Usage) -> wire.Tokens:
    """Tokens in the words of the AI SDK."""
    known = usage.input is not None and usage.output is not None
    return wire.Tokens(
        input_tokens=usage.input,
        output_tokens=usage.output,
        total_tokens=(usage.input or 0) + (usage.output or 0) if known else None,
        reasoning_tokens=usage.reasoning,
        cached_input_tokens=usage.cache_read,
    )


def _closed(turn_id: str, question_id: str, answer: Raw | UnsetType) -> wire.Frame:
    if answer is UNSET:
        return wire.QuestionExpired(question_id, turn_id)
    return wire.QuestionResolved(question_id, turn_id, answer)


def _status(turn_id: str, status: str, detail: str | None) -> wire.AgentStatus:
    """A status. A word that gateways do not know goes into the detail."""
    if status in STATUSES:
        return wire.AgentStatus(status, detail, turn_id)
    words = status if detail is None else f"{status}: {detail}"
    return wire.AgentStatus(THINKING, words, turn_id)
