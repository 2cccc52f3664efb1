"""Following a turn that another request started, from its current state.

The `init` of R has the turn so far, though its text after the last tool may be incomplete. The
`init` of A and V only says that the runner is busy, so the first frame of the turn shows its
id. In both cases the text before our connection is missing until a snapshot has it. Until then
the protocol withholds deltas; after that, deltas continue the text exactly.

Pages are sections of docs/wire/session-agent.md.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from turnwire.core import events
from turnwire.core.agent import ALIVE, AbortScope, Decoded
from turnwire.core.events import Event
from turnwire.core.rejection import Rejection
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.dialects.session_agent import frames, init, questions
from turnwire.dialects.session_agent.binding.transitions import Stage
from turnwire.dialects.session_agent.init import SessionState, session_state
from turnwire.dialects.session_agent.snapshots import SnapshotMerger
from turnwire.dialects.session_agent.turn import PING_S, TurnProtocol

SEARCH_S: Final = 2.0
"""How long to wait for a sign that our channel is at work, in seconds, if `init` does not name the
channel. A client delays its page for this time."""

_MAY_BE_UNNAMED: Final = frozenset({Stage.LOOKING, Stage.QUEUED, Stage.WORKING})


class ResumeProtocol(TurnProtocol):
    """Follows the turn that runs or waits on a channel. It never aborts."""

    def __init__(self, request: ResumeRequest, member: Member) -> None:
        prompt = PromptRequest(
            text="",
            prompt_id="",
            channel=request.channel,
            user_id=request.user_id,
        )
        super().__init__(prompt, member)
        self._resume_request = request
        self._search_until = math.inf
        self._ahead = init.Ahead()
        self._is_found = False
        self._may_be_unnamed = False
        """Whether a turn of our channel may be at work whose id and beginning are unknown."""
        self._merger: SnapshotMerger | None = None
        """Set while text is missing."""

    @property
    def accepted(self) -> bool:
        return self._is_found

    @property
    def deadline(self) -> float:
        return min(super().deadline, self._search_until)

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.NONE

    def client_detached(self) -> None:
        """Ignored: only the user who sent the prompt can come back."""

    def connection_opened(self, now: float) -> Decoded:
        self._ping_at = now + PING_S
        self._search_until = now + self._resume_request.init_s
        return Decoded()

    def tick(self, now: float) -> Decoded:
        return self._nothing_found() if now >= self._search_until else super().tick(now)

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return init.prepare_frame(raw, None if self._is_complete else self._ahead)

    @property
    def _is_complete(self) -> bool:
        """Whether nothing of our turn is missing, so that another `init` has nothing new."""
        return self._is_found and not self._may_be_unnamed and self._merger is None

    def receive_frame(self, raw: bytes, now: float) -> Decoded | str | None:
        if self._is_complete:
            return super().receive_frame(raw, now)
        if now >= self._search_until:
            return self._nothing_found()
        frame = frames.decoder.read(raw, self.frame_stats)
        decoded = None if frame is None else self._guarded(self._catch_up, frame, now)
        if isinstance(frame, frames.Init):
            self._ahead.drop()  # also if it was not used
        return decoded

    # Until nothing is missing.

    def _catch_up(self, frame: frames.Read, now: float) -> Decoded | None:
        binding = self._binding
        if binding.stage is Stage.OVER:
            return None
        if isinstance(frame, frames.Init):
            return self._init_received(frame, now)
        if binding.stage is Stage.AWAITING_INIT and not isinstance(frame, frames.Status):
            return None  # R may send frames of a turn before `init`, which has it (page 4.1)
        is_unnamed = self._may_be_unnamed and binding.stage in _MAY_BE_UNNAMED
        started = self._detect_activity(frame) if is_unnamed else ()
        turn_id = binding.turn_id
        if isinstance(frame, frames.ChunkDelta) and frame.message_id == turn_id:
            self._progress.delta(frame.content, now)
            return Decoded(started)
        if isinstance(frame, frames.Updated) and frame.data.id == turn_id:
            return Decoded([*started, *self._snapshot_received(frame.data, now)])
        decoded = self._interpret(frame, now)
        if binding.turn_id != turn_id:
            self._merger = None
        # A turn that begins after we connected has an id, and none of it is missing.
        self._may_be_unnamed = self._may_be_unnamed and binding.stage in _MAY_BE_UNNAMED
        if binding.stage is Stage.LOOKING and _is_idle(frame):
            return self._nothing_found()
        return decoded

    def _detect_activity(self, frame: frames.Read) -> Sequence[Event]:
        """Detect whether our channel is at work, and in which turn."""
        binding = self._binding
        is_looking = binding.stage is Stage.LOOKING
        if not isinstance(frame, frames.WorkSign):
            return ()
        match frame:
            case frames.ChunkDelta(message_id=turn_id) if frame.channel == binding.channel:
                return self._follow_turn(turn_id)
            case frames.Updated(data) if init.is_turn(data) and data.channel == binding.channel:
                # A turn that ends while a prompt waits is not the turn that we wait for.
                if binding.stage is not Stage.QUEUED or not data.is_finished:
                    return self._follow_turn(data.id)
            case frames.InteractivePrompt() if questions.channel(frame) == binding.channel:
                self._work_found()
            case frames.Question() if frame.channel == binding.channel:
                self._work_found()
            case frames.AgentStatus(status=status) if (
                is_looking and frame.channel == binding.channel
            ):
                if status != "idle":
                    self._work_found()
            case frames.Message(data) if is_looking and data.channel == binding.channel:
                if data.role == "user" and binding.echo_on_dispatch:  # echoed when it is dispatched
                    self._prompt_dispatched(data.id)
                elif init.is_start(data):
                    self._work_found()
            case (
                frames.Message()
                | frames.ChunkDelta()
                | frames.Updated()
                | frames.AgentStatus()
                | frames.Question()
                | frames.InteractivePrompt()
            ):
                pass
            case _:
                assert_never(frame)
        return ()

    def _work_found(self) -> None:
        """Our channel is at work, and may have been at work before we connected."""
        self._binding.follow_work()
        self._progress.assume_running()
        self._mark_found()

    def _prompt_dispatched(self, prompt_id: str) -> None:
        """The runner has a prompt of our channel, and the turn has not begun."""
        self._binding.follow_prompt(prompt_id)
        self._mark_found()

    def _follow_turn(self, turn_id: str) -> Sequence[Event]:
        """Follow this running turn, whose text so far is unknown."""
        self._binding.follow_turn(turn_id)
        self._progress.assume_running()
        self._mark_found()
        self._may_be_unnamed = False
        self._merger = SnapshotMerger(accumulates=not self._binding.echo_on_dispatch)
        return [events.TurnStarted(turn_id)]

    def _snapshot_received(self, snapshot: frames.Snapshot, now: float) -> Sequence[Event]:
        decoded, has_text = self._merge(snapshot, now, whole=True)
        if has_text:
            self._merger = None
        return decoded

    def _merge(
        self, snapshot: frames.Snapshot, now: float, *, whole: bool
    ) -> tuple[list[Event], bool]:
        merger = self._merger or SnapshotMerger(accumulates=not self._binding.echo_on_dispatch)
        return merger.merge(snapshot, self._progress.snapshot_received(snapshot, now), whole=whole)

    # `init`.

    def _init_received(self, frame: frames.Init, now: float) -> Decoded | None:
        binding = self._binding
        if binding.stage is not Stage.AWAITING_INIT:
            return None
        state = session_state(frame)
        binding.init_received(state, follows=True)
        if state.is_dead:
            return self._nothing_found()
        self._search_until = now + min(SEARCH_S, self._resume_request.init_s)
        if not state.echo_on_dispatch:
            return self._init_received_from_r(init.session(frame, state, self._ahead), state, now)
        prompt_id = init.pending(frame, binding.channel)
        self._may_be_unnamed = state.runner_busy
        if prompt_id is not None:
            return self._wait_for(prompt_id, 1, 1)
        return ALIVE if state.runner_busy else self._nothing_found()

    def _init_received_from_r(
        self, session: init.Session, state: SessionState, now: float
    ) -> Decoded:
        binding = self._binding
        turn, prompt = session.turn, session.prompt
        if turn is not None and turn.channel == binding.channel:
            return self._continue_turn(turn, now)
        for position, waiting in enumerate(session.waiting, start=1):
            if waiting.channel == binding.channel:
                return self._wait_for(waiting.id, position, len(session.waiting))
        if prompt is not None and prompt.channel == binding.channel:
            self._prompt_dispatched(prompt.id)
            return ALIVE
        self._may_be_unnamed = state.runner_busy and turn is None and prompt is None
        return ALIVE if self._may_be_unnamed else self._nothing_found()

    def _continue_turn(self, turn: frames.Snapshot, now: float) -> Decoded:
        """Return the turn so far, without the text after the last tool, which may be incomplete."""
        started = self._follow_turn(turn.id)
        decoded, _ = self._merge(turn, now, whole=False)
        return Decoded([*started, *decoded])

    def _wait_for(self, prompt_id: str, position: int, length: int) -> Decoded:
        self._binding.await_prompt(prompt_id, position, length)
        self._mark_found()
        return Decoded([events.Queued()])

    def _mark_found(self) -> None:
        self._is_found = True
        self._search_until = math.inf

    def _nothing_found(self) -> Decoded:
        self._binding.end()
        self._search_until = math.inf
        return Decoded(rejection=Rejection.NO_TURN)

    def _session_died(self) -> Decoded:
        return super()._session_died() if self._is_found else self._nothing_found()


def _is_idle(frame: frames.Read) -> bool:
    return isinstance(frame, frames.Status) and frame.data.runner_busy is False
