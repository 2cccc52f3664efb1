"""Resumes a turn: follows, from its start, a turn that another request sent the prompt of.

`init` comes before all other frames and holds everything up to that moment. So
no event is missing between `init` and the frames after it, and none comes twice.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Raw

from turnwire.core import events
from turnwire.core.agent import ALIVE, NEVER, Decoded
from turnwire.core.events import Event
from turnwire.core.rejection import Rejection
from turnwire.core.requests import ResumeRequest
from turnwire.core.session_group import Member
from turnwire.dialects.v2 import init, progress
from turnwire.dialects.v2.frames import InitData
from turnwire.dialects.v2.turn import TurnProtocol

_CLIENT_IDS_MAX: Final = 1_000
"""While a resumed turn goes on, the client ids of the newest entries are kept: at most these."""


class ResumeProtocol(TurnProtocol):
    """Follows the turn that runs or waits on a channel. It never aborts."""

    def __init__(self, request: ResumeRequest, member: Member) -> None:
        super().__init__(request.channel, member)
        self.accepted = False
        self._is_rejected = False
        self._resume_request = request
        self._client_ids: frozenset[str] = frozenset()
        """Message ids that clients gave their prompts."""
        self._asker: str | None = None
        """The user who sent the prompt of our turn; None if `init` does not say it."""

    def connection_opened(self, now: float) -> Decoded:
        self.deadline = now + self._resume_request.init_s
        return Decoded()

    def tick(self, now: float) -> Decoded:
        return Decoded() if now < self.deadline else self._reject(self._init_missing())

    def receive_frame(self, raw: bytes, now: float) -> Decoded | str | None:
        decoded = super().receive_frame(raw, now)
        # `init` repeats the content of the frames before it.
        return decoded if self.accepted or self._is_rejected else None

    def _init_received(self, data: InitData, session: Raw) -> Decoded | None:
        if self.accepted:
            return None
        all_entries = list(self._entries(session))
        self._note_other_turns(data, all_entries)
        self.deadline = NEVER
        entries = [e for e in all_entries if e.channel == self.channel]
        running = _running_turn(data, filter(self._may_be_ours, entries))
        self._client_ids = init.client_ids(entries[-_CLIENT_IDS_MAX:])
        if running is not None:
            self._asker = init.asker(running, entries)
            result = self._replay(running)
        else:
            waiting = init.waiting_prompts(all_entries, data.prompts_queued)
            result = self._no_turn_runs(next(filter(self._may_be_ours, waiting), None))
        if isinstance(result, Rejection):
            return self._reject(result)
        self.accepted = True
        if running is not None:
            self._binding.follow(running.id, running.prompt_id)
            self._open_questions.turn_finished(running.id)
        elif data.runner_busy and not data.running_turn_id:
            self._binding.agent_busy(None)
        return result

    def _message_id(self, turn_id: str) -> str:
        return init.message_id(turn_id, self._client_ids)

    def _may_be_ours(self, entry: init.Entry) -> bool:
        """Whether the request may mean this entry, by its prompt and its channel."""
        prompt_id = self._resume_request.prompt_id
        is_requested = prompt_id is None or entry.prompt_id == prompt_id
        is_only_candidate = entry.prompt_id is None and not self._member.apart
        return (is_requested or is_only_candidate) and entry.channel == self.channel

    def _init_missing(self) -> Rejection:
        """No `init` came in time: a turn of such an agent cannot be resumed."""
        return Rejection.NO_TURN

    def _no_turn_runs(self, waiting: init.Entry | None) -> Decoded | Rejection:
        """No turn runs. `waiting` is the prompt that waits; None if none does."""
        if waiting is None:
            return Rejection.NO_TURN
        self._binding.wait_for(waiting.prompt_id)
        return ALIVE

    def _replay(self, running: init.Entry) -> Decoded | Rejection:
        """The events of the running turn so far, or why the request is rejected."""
        started = events.TurnStarted(self._message_id(running.id))
        return Decoded([started, *self._track_questions(progress.turn_events(running))])

    def _track_questions(self, replayed: Iterable[Event]) -> Iterator[Event]:
        """Pass the events on. Keep question ids: the frame that closes one need not name a turn."""
        for event in replayed:
            if isinstance(event, events.Question):
                self._open_questions.add_ours(event.question_id)
            yield event

    def _reject(self, rejection: Rejection) -> Decoded:
        self._is_rejected = True
        return Decoded(rejection=rejection)


def _running_turn(data: InitData, entries: Iterable[init.Entry]) -> init.Entry | None:
    """The turn that `init` names, else the newest open one; None if the agent is not busy."""
    running_id = data.running_turn_id
    if not running_id and not data.runner_busy:
        return None
    newest_first = reversed(list(entries))
    return next((e for e in newest_first if running_id in {None, e.id} and e.is_open), None)
