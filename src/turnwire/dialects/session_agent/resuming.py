"""Following a turn that somebody asked for before, from wherever it is.

R's `init` has the turn so far, though its text after the last tool may lag. A
and V say only that the runner is busy, so the turn is known by its first frame.
Either way text that was told before we came is missing until a snapshot has
it: until then deltas are withheld, and from then on they follow exactly.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from turnwire.core import events
from turnwire.core.dialect import Ask, Look, Reach
from turnwire.core.events import Event, Told
from turnwire.core.refusal import Refusal
from turnwire.core.room import Seat
from turnwire.dialects.session_agent import asking, hydration, looking, wire
from turnwire.dialects.session_agent.conversation import PING_S, Conversation
from turnwire.dialects.session_agent.course import ALIVE
from turnwire.dialects.session_agent.hello import Hello, hello
from turnwire.dialects.session_agent.retelling import Retelling
from turnwire.dialects.session_agent.whose import Stage

LOOK_S: Final = 2.0
"""How long to look for a sign that our channel is at work, where `init` does not say which is.
A client holds its page back meanwhile."""

_NAMELESS: Final = frozenset({Stage.LOOKING, Stage.QUEUED, Stage.WORKING})


class Resuming(Conversation):
    """Follows the turn that runs or waits on a channel. It never aborts."""

    def __init__(self, look: Look, seat: Seat) -> None:
        ask = Ask(
            text="",
            prompt_id="",
            channel_type=look.channel_type,
            channel_id=look.channel_id,
            user_id=look.user_id,
        )
        super().__init__(ask, seat)
        self._look = look
        self._look_by = math.inf
        self._ahead = hydration.Ahead()
        self._found = False
        self._nameless = False
        """A turn of our channel may be at work whose id, and beginning, we do not know."""
        self._withheld: Retelling | None = None
        """While text is missing."""

    @property
    def committed(self) -> bool:
        return self._found

    @property
    def deadline(self) -> float:
        return min(super().deadline, self._look_by)

    @property
    def reach(self) -> Reach:
        return Reach.NOTHING

    def unattended(self) -> None:
        """Only whoever asked can come back."""

    def open(self, now: float) -> Sequence[Event]:
        self._ping_at = now + PING_S
        self._look_by = now + self._look.init_s
        return ()

    def tick(self, now: float) -> Sequence[Event]:
        return self._none() if now >= self._look_by else super().tick(now)

    def look_into(self, frame: bytes) -> Iterator[None]:
        return looking.look_into(frame, None if self._is_whole else self._ahead)

    @property
    def _is_whole(self) -> bool:
        """Whether nothing is missing of the turn that we follow: `init` has no more news."""
        return self._found and not self._nameless and self._withheld is None

    def hear(self, frame: bytes, now: float) -> Told:
        if self._is_whole:
            return super().hear(frame, now)
        if now >= self._look_by:
            return self._none()
        heard = wire.read(frame, self.tally)
        told = () if heard is None else self._looked_into(self._catch_up, heard, now)
        if isinstance(heard, wire.Init):
            self._ahead.drop()  # also if it was not taken
        return told

    # Until nothing is missing.

    def _catch_up(self, heard: wire.Read, now: float) -> Sequence[Event]:
        whose = self._whose
        if whose.stage is Stage.OVER:
            return ()
        if isinstance(heard, wire.Init):
            return self._greeted(heard, now)
        if whose.stage is Stage.GREETING and not isinstance(heard, wire.Status):
            return ()  # R may tell of a turn before its `init`, which has it all (page 4.1)
        started = self._seen(heard) if self._nameless else ()
        turn_id = whose.turn_id
        match heard:
            case wire.ChunkDelta(message_id=message_id) if message_id == turn_id:
                self._course.delta(heard.content, now)
                return [*started, *ALIVE]
            case wire.Updated(data) if data.id == turn_id:
                return [*started, *self._told_again(data, now)]
            case _:
                told = self._events(heard, now)
        if whose.turn_id != turn_id:
            self._withheld = None
        # What begins after we came begins with its name, and nothing is missing of it.
        self._nameless = self._nameless and whose.stage in _NAMELESS
        if whose.stage is Stage.LOOKING and _is_idle(heard):
            return self._none()
        return told

    def _seen(self, heard: wire.Read) -> Sequence[Event]:
        """Whether this shows that our channel is at work, and with which turn."""
        whose = self._whose
        looks = whose.stage is Stage.LOOKING
        match heard:
            case wire.ChunkDelta(message_id=turn_id) if heard.channel == whose.channel:
                return self._follow(turn_id)
            case wire.Updated(data) if hydration.is_turn(data) and data.channel == whose.channel:
                # What ends while a prompt waits is not what we wait for.
                if whose.stage is not Stage.QUEUED or not data.is_finished:
                    return self._follow(data.id)
            case wire.InteractivePrompt() if asking.channel(heard) == whose.channel:
                self._find(Stage.WORKING)
            case wire.Question() if heard.channel == whose.channel:
                self._find(Stage.WORKING)
            case wire.AgentStatus(status=status) if looks and heard.channel == whose.channel:
                if status != "idle":
                    self._find(Stage.WORKING)
            case wire.Message(data) if looks and data.channel == whose.channel:
                if data.role == "user" and whose.defers:  # it is told when it is dispatched
                    self._dispatched(data.id)
                elif hydration.is_start(data):
                    self._find(Stage.WORKING)
            case _:
                pass
        return ()

    def _find(self, stage: Stage) -> None:
        """Our channel is at work, and may have been so when we came."""
        self._whose.stage = stage
        self._whose.prompt_id = None
        self._course.joined()
        self._commit()

    def _dispatched(self, prompt_id: str) -> None:
        """A prompt of our channel is at the runner, and its turn has not begun."""
        self._whose.stage = Stage.DISPATCHED
        self._whose.asked(prompt_id)
        self._commit()

    def _follow(self, turn_id: str) -> Sequence[Event]:
        """This turn is at work, and we do not know what it said."""
        self._find(Stage.RUNNING)
        self._whose.follows(turn_id)
        self._nameless = False
        self._withheld = Retelling(accumulates=not self._whose.defers)
        return [events.TurnStarted(turn_id)]

    def _told_again(self, snapshot: wire.Snapshot, now: float) -> Sequence[Event]:
        told, trusted = self._woven(snapshot, now, whole=True)
        if trusted:
            self._withheld = None
        return told

    def _woven(
        self, snapshot: wire.Snapshot, now: float, *, whole: bool
    ) -> tuple[list[Event], bool]:
        retelling = self._withheld or Retelling(accumulates=not self._whose.defers)
        return retelling.weave(snapshot, self._course.snapshot(snapshot, now), whole=whole)

    # What `init` says.

    def _greeted(self, init: wire.Init, now: float) -> Sequence[Event]:
        whose = self._whose
        if whose.stage is not Stage.GREETING:
            return ()
        said = hello(init)
        whose.greeted(said)
        whose.looks()
        if said.is_dead:
            return self._none()
        self._look_by = now + min(LOOK_S, self._look.init_s)
        if not said.defers:
            return self._greeted_by_r(hydration.session(init, said, self._ahead), said, now)
        prompt_id = hydration.pending(init, whose.channel)
        self._nameless = said.runner_busy
        if prompt_id is not None:
            return self._wait_for(prompt_id, 1, 1)
        return ALIVE if said.runner_busy else self._none()

    def _greeted_by_r(self, session: hydration.Session, said: Hello, now: float) -> Sequence[Event]:
        whose = self._whose
        turn, prompt = session.turn, session.prompt
        if turn is not None and turn.channel == whose.channel:
            return self._go_on(turn, now)
        for place, waits in enumerate(session.waiting, start=1):
            if waits.channel == whose.channel:
                return self._wait_for(waits.id, place, len(session.waiting))
        if prompt is not None and prompt.channel == whose.channel:
            self._dispatched(prompt.id)
            return ALIVE
        self._nameless = said.runner_busy and turn is None and prompt is None
        return ALIVE if self._nameless else self._none()

    def _go_on(self, turn: wire.Snapshot, now: float) -> Sequence[Event]:
        """Tell what R says of the turn: not its last text, which may be behind what was told."""
        started = self._follow(turn.id)
        told, _ = self._woven(turn, now, whole=False)
        return [*started, *told]

    def _wait_for(self, prompt_id: str, position: int, length: int) -> Sequence[Event]:
        self._whose.awaits(prompt_id, position, length)
        self._commit()
        return [events.Queued()]

    def _commit(self) -> None:
        self._found = True
        self._look_by = math.inf

    def _none(self) -> Sequence[Event]:
        self._whose.stage = Stage.OVER
        self._look_by = math.inf
        return [events.Refused(Refusal.NOTHING)]

    def _died(self) -> Sequence[Event]:
        return super()._died() if self._found else self._none()


def _is_idle(heard: wire.Read) -> bool:
    return isinstance(heard, wire.Status) and heard.data.runner_busy is False
