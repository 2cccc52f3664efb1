"""A turn on the `acp` wire: one connection, whose session is opened first, and one prompt.

Read this module first, then `opening` and `progress`. The response to our prompt is the end of the
turn, and all updates of our session between the two are ours. `PromptProtocol` decides which
messages count. A session is one conversation of the agent; which of its sessions is ours is kept by
the caller.
"""

import enum
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from turnwire.core.agent import ALIVE, NEVER, AbortScope, Decoded, KeepsNothing
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import (
    AgentStatus,
    DataPart,
    Event,
    Reason,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.requests import PromptRequest, QuestionReply
from turnwire.core.wire import lenient
from turnwire.core.wire.census import census
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import blocks, commands, frames
from turnwire.dialects.acp.frames import Message, TornMessage, decoder
from turnwire.dialects.acp.opening import NOT_FOUND, Opening
from turnwire.dialects.acp.permissions import UNREADABLE, Permissions
from turnwire.dialects.acp.progress import Progress

PROMPT: Final = 10
"""The id of the request with our prompt."""

CANCEL_S: Final = 5.0
"""How long an agent may take to end a turn that it shall cancel, in seconds."""

AGAIN_S: Final = 1.5
"""The time before the session is asked for again that did not open, in seconds."""

CANCELLED: Final = TurnFinished(reason=Reason.CANCELED)

CENSUS_DEPTH: Final = 6
"""A message, its params, the update, its content, a part of that, its block."""

NEW_SESSION: Final = "new_session"
BEGINS_ANEW: Final = "The agent has nothing of this conversation any more: it begins anew"
CANNOT_GO_ON: Final = "The agent cannot go on with this conversation: it begins anew"
UNOPENED: Final = "session that does not open"
FILE_REFUSED: Final = "The agent takes no files of this kind"
REFUSED: Final = "The agent refused the prompt"

_CUT_SHORT: Final = {
    "max_tokens": "length",
    "max_turn_requests": "max_turn_requests",
    "refusal": "refusal",
}
"""Why an answer is not whole, by the reason of the wire."""


class _Stage(enum.Enum):
    OPENING = enum.auto()
    RUNNING = enum.auto()
    OVER = enum.auto()


class PromptProtocol(KeepsNothing):
    """One turn, without I/O."""

    accepted = True
    queued = False
    has_other_watchers = False

    def __init__(self, request: PromptRequest) -> None:
        self.frame_stats = FrameStats()
        self._request: PromptRequest | None = request
        """The prompt, until it is sent."""
        self._turn_id = request.prompt_id
        self._opening = Opening(request.agent_session.known, request.options.cwd)
        self._session = request.agent_session
        self._has_earlier = request.has_earlier
        self._stage = _Stage.OPENING
        self._progress = Progress(self.frame_stats)
        self._permissions = Permissions(
            self._turn_id, self.frame_stats, has_answers=request.options.has_turn_log
        )
        self._is_cancelled = False
        self.deadline = NEVER
        """Until when the agent may answer that it cancelled the turn, or when to ask it again."""

    # The connection.

    def connect_request(self) -> ConnectRequest:
        return commands.CONNECT

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded(to_agent=self._opening.begin())

    def connection_lost(self, _now: float) -> Decoded | None:
        """Interrupt the turn: a session whose connection is gone tells nothing of it any more."""
        return Decoded([CANCELLED]) if self._is_cancelled and self.deadline < NEVER else None

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.OURS if self._stage is _Stage.RUNNING else AbortScope.NONE

    def begin_stop(self, now: float) -> Decoded | None:
        """Cancel the turn, and wait for its end: the next prompt finds a session that is idle."""
        if self._stage is not _Stage.RUNNING:
            return None
        if self.deadline == NEVER:
            self.deadline = now + CANCEL_S
        return Decoded(to_agent=self.abort())

    def abort(self) -> Sequence[bytes]:
        """Return what cancels the turn. Agents wait for ever for an answer that nobody gives."""
        session_id = self._opening.session_id
        if self._stage is not _Stage.RUNNING or session_id is None or self._is_cancelled:
            return ()
        self._is_cancelled = True
        return [commands.cancel(session_id), *self._permissions.cancel()]

    def client_detached(self) -> None:
        """Do nothing: a session has no other watchers."""

    def unwatched(self) -> None:
        """Do nothing, as above."""

    def mark_stale(self) -> None:
        """Do nothing: an abort stops our turn alone."""

    def tick(self, now: float) -> Decoded:
        """End a turn that the agent does not say it cancelled, or ask for the session again."""
        if now < self.deadline:
            return Decoded()
        if self._stage is not _Stage.OPENING:
            return Decoded([CANCELLED])
        self.deadline = NEVER
        return Decoded(to_agent=self._opening.ask_again())

    # The messages.

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return census(raw, CENSUS_DEPTH)

    def receive_frame(self, raw: bytes, now: float) -> Decoded | str | None:
        message = decoder.read(raw, self.frame_stats)
        if message is None:
            return None
        if message.method is None and not message.is_response:
            self.frame_stats.count_malformed(raw)
            return None
        try:
            return self._interpret(message, raw, now)
        except msgspec.ValidationError:
            frames.count_rejected(raw, message, self.frame_stats)
        except (msgspec.DecodeError, RecursionError):
            self.frame_stats.count_unreadable(raw)
        return None

    def reply(self, reply: QuestionReply, _user_id: str, _now: float) -> Decoded:
        return self._permissions.reply(reply)

    def _interpret(self, message: Message, raw: bytes, now: float) -> Decoded | str | None:
        if message.method is None:
            return self._response(message, now)
        if message.method == frames.UPDATE:
            text = message.text if isinstance(message, TornMessage) else None
            return self._update(frames.update_params(message.params), text)
        if message.method == frames.PERMISSION and message.id and self._stage is _Stage.RUNNING:
            return self._ask(message, raw)
        if message.method == frames.WITHDRAW:
            return self._permissions.withdraw(message.params)
        self.frame_stats.count_unknown(message.method)
        return Decoded(to_agent=[commands.refused(message.id)]) if message.has_id else None

    def _response(self, message: Message, now: float) -> Decoded | None:
        if self._stage is _Stage.OPENING:
            return self._take_opening(message, now)
        # An agent that could not read a request does not name it, and nothing else is under way.
        is_end = message.number == PROMPT or not message.has_id
        if self._stage is _Stage.RUNNING and is_end:
            return self._finish(message)
        self.frame_stats.foreign += 1
        return None

    def _update(self, params: frames.UpdateParams, text: str | None) -> Decoded | str | None:
        is_ours = params.session_id == self._opening.session_id
        if is_ours and self._opening.is_telling_past:
            self._opening.note_past(params.update)
            return ALIVE
        if not is_ours or self._stage is not _Stage.RUNNING or self._is_cancelled:
            self.frame_stats.foreign += 1
            return None
        new = self._progress.take(params.update, text)
        if len(new) == 1 and isinstance(new[0], TextDelta):
            return new[0].text
        return Decoded(new) if new else ALIVE

    # The session, the prompt, the end.

    def _take_opening(self, message: Message, now: float) -> Decoded:
        opening = self._opening
        to_send = opening.take(message)
        if opening.error is not None:
            return self._over(Reason.ERROR, opening.error)
        if not opening.is_open:
            if opening.is_put_off and self.deadline == NEVER:  # else it was an answer to nothing
                self.deadline = now + AGAIN_S
            return Decoded(to_agent=to_send)
        session_id, request = opening.session_id, self._request
        assert session_id is not None
        assert request is not None
        self._request = None
        content = blocks.of_prompt(request, opening.abilities)
        if content is None:
            return self._over(Reason.ERROR, FILE_REFUSED)
        self._session.keep(session_id)
        self._stage = _Stage.RUNNING
        events: list[Event] = [TurnStarted(self._turn_id)]
        is_anew = opening.is_another or (self._session.known is None and self._has_earlier)
        if is_anew:
            text = BEGINS_ANEW if opening.refusal is None else CANNOT_GO_ON
            events += [AgentStatus(NEW_SESSION, text), _notice(text)]
        if opening.refusal is not None:
            self.frame_stats.count_left_out(UNOPENED, 0)
        return Decoded(events, [commands.prompt(PROMPT, session_id, content)])

    def _ask(self, message: Message, raw: bytes) -> Decoded:
        try:
            asked = frames.permission_params(message.params)
        except msgspec.DecodeError:
            self.frame_stats.count_malformed(raw)
            if self._is_cancelled:
                return _refusal(message)
            return self._permissions.refuse(message.id, UNREADABLE)
        if asked.session_id != self._opening.session_id or self._is_cancelled:
            self.frame_stats.foreign += 1
            return _refusal(message)
        return self._permissions.ask(message.id, asked, self._progress.calls)

    def _finish(self, message: Message) -> Decoded:
        """The response to the prompt: the end of the turn."""
        if message.failure:
            error = lenient.field(frames.rpc_error, message.failure) or frames.RpcError(0)
            self.frame_stats.error_code = str(error.code)
            if error.code == NOT_FOUND:  # the session: the agent was sent nothing else by name
                self._session.forget()
            if self._is_cancelled:  # some agents call their cancelled turn an error
                return self._over(Reason.CANCELED, None)
            return self._over(Reason.ERROR, error.message or REFUSED)
        # Whatever it says, nothing of this turn follows it.
        done = lenient.field(frames.prompt_done, message.result) or frames.PromptDone("end_turn")
        self._stage = _Stage.OVER
        # One agent says `end_turn` of a turn that it cancelled.
        is_cancelled = self._is_cancelled or done.stop_reason == "cancelled"
        end = TurnFinished(
            reason=Reason.CANCELED if is_cancelled else Reason.END_TURN,
            usage=done.usage or None,
            cut_short=None if is_cancelled else _CUT_SHORT.get(done.stop_reason),
        )
        return Decoded([end])

    def _over(self, reason: Reason, error: str | None) -> Decoded:
        self._stage = _Stage.OVER
        return Decoded([TurnFinished(reason=reason, error=error)])


def _refusal(message: Message) -> Decoded:
    return Decoded(to_agent=[commands.selected(message.id, None)])


def _notice(text: str) -> Event:
    """What stays in the message: whoever reads it later shall know why it knows nothing."""
    data = msgspec.Raw(msgspec.json.encode({"notice": NEW_SESSION, "text": text}))
    return DataPart("notice", NEW_SESSION, data)
