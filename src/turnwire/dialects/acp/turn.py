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
from msgspec import Raw

from turnwire.core.agent import ALIVE, NEVER, AbortScope, Decoded, KeepsNothing
from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import (
    AgentStatus,
    DataPart,
    Event,
    QuestionClosed,
    Reason,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.requests import PromptRequest, QuestionReply
from turnwire.core.wire import lenient
from turnwire.core.wire.census import census
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import blocks, commands, frames, questions
from turnwire.dialects.acp.frames import Message, decoder
from turnwire.dialects.acp.opening import Opening
from turnwire.dialects.acp.progress import Progress
from turnwire.dialects.acp.questions import Asked

PROMPT: Final = 10
"""The id of the request with our prompt."""

CENSUS_DEPTH: Final = 6
"""A message, its params, the update, its content, a part of that, its block."""

NEW_SESSION: Final = "new_session"
BEGINS_ANEW: Final = "The agent has nothing of this conversation any more: it begins anew"
FILE_REFUSED: Final = "The agent takes no files of this kind"
UNREADABLE_QUESTION: Final = "The agent asks something that cannot be shown"
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
    deadline = NEVER

    def __init__(self, request: PromptRequest) -> None:
        self.frame_stats = FrameStats()
        self._request: PromptRequest | None = request
        """The prompt, until it is sent."""
        self._turn_id = request.prompt_id
        self._opening = Opening(request.agent_session.known, request.options.cwd)
        self._keep = request.agent_session.keep
        self._has_earlier = request.has_earlier
        self._stage = _Stage.OPENING
        self._progress = Progress(self.frame_stats)
        self._asked: dict[str, Asked] = {}
        self._is_cancelled = False

    # The connection.

    def connect_request(self) -> ConnectRequest:
        return commands.CONNECT

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded(to_agent=self._opening.begin())

    def connection_lost(self, _now: float) -> Decoded | None:
        """Return None: a session whose connection is gone tells nothing of this turn any more."""
        return None

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.OURS if self._stage is _Stage.RUNNING else AbortScope.NONE

    def abort(self) -> Sequence[bytes]:
        """Return what cancels the turn. Agents wait for ever for an answer that nobody gives."""
        session_id = self._opening.session_id
        if self._stage is not _Stage.RUNNING or session_id is None or self._is_cancelled:
            return ()
        self._is_cancelled = True
        asked, self._asked = self._asked, {}
        answers = [commands.selected(each.request_id, None) for each in asked.values()]
        return [commands.cancel(session_id), *answers]

    def client_detached(self) -> None:
        """Do nothing: a session has no other watchers."""

    def unwatched(self) -> None:
        """Do nothing, as above."""

    def mark_stale(self) -> None:
        """Do nothing: an abort stops our turn alone."""

    def tick(self, _now: float) -> Decoded:
        """Do nothing: there is no deadline."""
        return Decoded()

    # The messages.

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return census(raw, CENSUS_DEPTH)

    def receive_frame(self, raw: bytes, _now: float) -> Decoded | str | None:
        message = decoder.read(raw, self.frame_stats)
        if message is None:
            return None
        if message.method is None and not message.is_response:
            self.frame_stats.count_malformed(raw)
            return None
        try:
            return self._interpret(message)
        except msgspec.ValidationError:
            self.frame_stats.count_malformed(raw)
        except (msgspec.DecodeError, RecursionError):
            self.frame_stats.count_unreadable(raw)
        return None

    def reply(self, reply: QuestionReply, _user_id: str, _now: float) -> Decoded:
        asked = self._asked.pop(reply.question_id, None)
        if asked is None:
            return Decoded()
        option_id = questions.chosen(asked, reply.answer)
        answer = commands.selected(asked.request_id, option_id)
        return Decoded([QuestionClosed(reply.question_id, answer=reply.answer)], [answer])

    def _interpret(self, message: Message) -> Decoded | str | None:
        if message.method is None:
            return self._response(message)
        if message.method == frames.UPDATE:
            return self._update(frames.update_params(message.params))
        if not message.has_id:
            self.frame_stats.count_unknown(message.method)
            return None
        if message.method == frames.PERMISSION and self._stage is _Stage.RUNNING:
            return self._ask(message.id, frames.permission_params(message.params))
        self.frame_stats.count_unknown(message.method)
        return Decoded(to_agent=[commands.refused(message.id)])

    def _response(self, message: Message) -> Decoded | None:
        if self._stage is _Stage.OPENING:
            return self._take_opening(message)
        if self._stage is _Stage.RUNNING and message.number == PROMPT:
            return self._finish(message)
        self.frame_stats.foreign += 1
        return None

    def _update(self, params: frames.UpdateParams) -> Decoded | str | None:
        is_ours = params.session_id == self._opening.session_id
        if is_ours and self._opening.is_telling_past:
            self._opening.note_past()
            return ALIVE
        if not is_ours or self._stage is not _Stage.RUNNING or self._is_cancelled:
            self.frame_stats.foreign += 1
            return None
        new = self._progress.take(params.update)
        if len(new) == 1 and isinstance(new[0], TextDelta):
            return new[0].text
        return Decoded(new) if new else ALIVE

    # The session, the prompt, the end.

    def _take_opening(self, message: Message) -> Decoded:
        opening = self._opening
        to_send = opening.take(message)
        if opening.error is not None:
            return self._over(Reason.ERROR, opening.error)
        if not opening.is_open:
            return Decoded(to_agent=to_send)
        session_id, request = opening.session_id, self._request
        assert session_id is not None
        assert request is not None
        self._request = None
        self._keep(session_id)
        content = blocks.of_prompt(request, opening.abilities.prompt_capabilities)
        if content is None:
            return self._over(Reason.ERROR, FILE_REFUSED)
        self._stage = _Stage.RUNNING
        events: list[Event] = [TurnStarted(self._turn_id)]
        is_anew = opening.is_another or (request.agent_session.known is None and self._has_earlier)
        if is_anew:
            events += [AgentStatus(NEW_SESSION, BEGINS_ANEW), _notice()]
        return Decoded(events, [commands.prompt(PROMPT, session_id, content)])

    def _ask(self, request_id: Raw, asked: frames.PermissionParams) -> Decoded:
        refusal = [commands.selected(request_id, None)]
        if asked.session_id != self._opening.session_id or self._is_cancelled:
            self.frame_stats.foreign += 1
            return Decoded(to_agent=refusal)
        events, name, given = self._progress.calls.ask(asked.tool_call)
        question_id = f"{self._turn_id}:{bytes(request_id).decode()}"
        if given is None or len(self._asked) >= OPEN_QUESTIONS_MAX:
            return Decoded([AgentStatus("question", UNREADABLE_QUESTION)], refusal)
        self._asked[question_id] = Asked(request_id, asked.options)
        return Decoded([*events, questions.question(question_id, asked, name, given)])

    def _finish(self, message: Message) -> Decoded:
        """The response to the prompt: the end of the turn."""
        if message.failure:
            error = lenient.field(frames.rpc_error, message.failure) or frames.RpcError(0)
            self.frame_stats.error_code = str(error.code)
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

    def _over(self, reason: Reason, error: str) -> Decoded:
        self._stage = _Stage.OVER
        return Decoded([TurnFinished(reason=reason, error=error)])


def _notice() -> Event:
    """What stays in the message: whoever reads it later shall know why it knows nothing."""
    data = msgspec.Raw(msgspec.json.encode({"notice": NEW_SESSION, "text": BEGINS_ANEW}))
    return DataPart("notice", NEW_SESSION, data)
