"""The permissions of a turn: each request for one gets exactly one answer.

Agents wait for ever for an answer that nobody gives. So a request that no user can answer is
answered at once with `cancelled`: the agent does not do what it asked for, and the turn goes on.
"""

from typing import Final

from msgspec import Raw

from turnwire.core.agent import Decoded
from turnwire.core.bounds import ID_MAX, OPEN_QUESTIONS_MAX
from turnwire.core.events import AgentStatus, Event, QuestionClosed
from turnwire.core.requests import QuestionReply
from turnwire.core.wire import lenient
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import commands, frames, questions
from turnwire.dialects.acp.calls import Calls
from turnwire.dialects.acp.frames import PermissionParams
from turnwire.dialects.acp.questions import Asked

UNREADABLE: Final = "The agent asks for a permission that cannot be shown, and did not get it"
TOO_MANY: Final = "The agent asks for too many permissions at once, and did not get this one"
NOBODY: Final = "The agent asks for a permission, but nobody can answer, so it did not get it"
LEFT_OUT: Final = "permission that nobody can give"

_REQUEST_ID_BYTES: Final = 6 * ID_MAX
"""Longest id of a request that is kept, in bytes of its JSON."""


class Permissions:
    """The questions of a turn that are open. The agent knows each by the id of its request."""

    def __init__(self, turn_id: str, frame_stats: FrameStats, *, has_answers: bool) -> None:
        """`has_answers`: whether an answer can reach the turn that asks."""
        self._turn_id = turn_id
        self._frame_stats = frame_stats
        self._has_answers = has_answers
        self._open: dict[str, Asked] = {}
        self._count = 0
        """How many were asked. An agent may use an id again, and `1` is not `"1"`."""

    def ask(self, request_id: Raw, asked: PermissionParams, calls: Calls) -> Decoded:
        """Return the question to the user; if nobody can answer it, the answer to the agent."""
        call_id = asked.tool_call.tool_call_id
        events, call = calls.ask(asked.tool_call)
        if call is None or len(request_id) > _REQUEST_ID_BYTES:
            return self.refuse(request_id, UNREADABLE, events)
        if not self._has_answers:
            return self.refuse(request_id, NOBODY, events)
        if len(self._open) >= OPEN_QUESTIONS_MAX:
            return self.refuse(request_id, TOO_MANY, events)
        question_id = f"{self._turn_id}:{self._count}"
        self._count += 1
        options = questions.offered(asked, self._frame_stats)
        kinds = [(each.option_id, each.kind) for each in options]
        self._open[question_id] = Asked(request_id.copy(), kinds)
        title = asked.tool_call.title
        return Decoded([*events, questions.question(question_id, title, options, call, call_id)])

    def refuse(self, request_id: Raw, why: str, events: list[Event] | None = None) -> Decoded:
        """Give no permission, and say so to the user."""
        self._frame_stats.count_left_out(LEFT_OUT, 0)
        status = AgentStatus("question", why)
        return Decoded([*(events or ()), status], [commands.selected(request_id, None)])

    def reply(self, reply: QuestionReply) -> Decoded:
        asked = self._open.pop(reply.question_id, None)
        if asked is None:
            return Decoded()
        answer = commands.selected(asked.request_id, questions.chosen(asked, reply.answer))
        return Decoded([QuestionClosed(reply.question_id, answer=reply.answer)], [answer])

    def withdraw(self, params: Raw) -> Decoded | None:
        """The agent needs no answer any more. None: to nothing that is open."""
        withdrawn = lenient.field(frames.withdrawn, params)
        for question_id, asked in self._open.items():
            if withdrawn is not None and asked.request_id == withdrawn.request_id:
                del self._open[question_id]
                answer = commands.selected(asked.request_id, None)
                return Decoded([QuestionClosed(question_id, expired=True)], [answer])
        return None

    def cancel(self) -> list[bytes]:
        """Return the answers to all that are open, after the turn was cancelled."""
        asked, self._open = self._open, {}
        return [commands.selected(each.request_id, None) for each in asked.values()]
