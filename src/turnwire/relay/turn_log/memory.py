"""A turn log in the memory of one process."""

import asyncio
from collections.abc import Callable, Sequence

from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log import entries
from turnwire.relay.agent.port import Listener
from turnwire.relay.memory_budget import Reservation
from turnwire.relay.rounds import Rounds
from turnwire.relay.turn_log.blocks import Place
from turnwire.relay.turn_log.memory_turn import MemoryReader, MemoryTurn, UserTurns
from turnwire.relay.turn_log.port import (
    ChatKey,
    LastTurn,
    TurnControl,
    TurnState,
    WaitingTurn,
    stopped,
)
from turnwire.relay.turn_log.reader import FixedSource, LogConnection
from turnwire.relay.turn_log.sessions import KEEP_S, MemorySessions


def _ignore() -> None:
    """Do nothing."""


class MemoryTurnLog:
    """A `TurnLog` for a process that has no other beside it.

    It keeps at most `turn_bytes` of one turn, and about `total_bytes` in all. Over that, the user
    with most makes room: the oldest turn that is over goes, else the largest that waits, else the
    largest that runs is no longer kept. A turn that is over is kept for `keep_s` seconds.
    `on_too_long` is called for each turn that is no longer kept. A session of the agent is kept for
    `session_keep_s` seconds after its last use.
    """

    def __init__(
        self,
        rounds: Rounds,
        *,
        turn_bytes: int,
        total_bytes: int,
        keep_s: float,
        session_keep_s: float = KEEP_S,
        on_too_long: Callable[[], object] = _ignore,
    ) -> None:
        self._sessions = MemorySessions(session_keep_s)
        self._on_too_long = on_too_long
        self.held_bytes = 0
        self._rounds = rounds
        self._turn_bytes = turn_bytes
        self._total_bytes = total_bytes
        self._keep_s = keep_s
        self._turns: dict[ChatKey, MemoryTurn] = {}
        self._former: dict[ChatKey, MemoryTurn] = {}
        """The last turn of each chat that is claimed for a turn which has not begun."""
        self._users: dict[str, UserTurns] = {}

    @property
    def turns(self) -> int:
        return len(self._turns) + len(self._former)

    async def claim(self, key: ChatKey, head: bytes, control: TurnControl) -> "_Writer | None":
        former = self._turns.get(key)
        if former is not None:
            if former.state is TurnState.RUNNING:
                return None
            self._former[key] = former
        user_id = entries.read_head(head).user_id
        user = self._users.setdefault(user_id, UserTurns(user_id))
        user.count += 1
        self._turns[key] = turn = MemoryTurn(self, key, head, control, user)
        self.grown(turn, turn.count())
        return _Writer(turn)

    async def last(self, key: ChatKey) -> LastTurn | None:
        turn = self._turns.get(key)
        if turn is None:
            return None
        return LastTurn(entries.read_head(turn.head), turn.state is TurnState.RUNNING)

    async def is_ending(self, key: ChatKey) -> bool:
        turn = self._turns.get(key)
        return turn is None or turn.state is not TurnState.RUNNING or turn.control.is_ending

    async def resume_waiting(self, key: ChatKey, control: TurnControl) -> WaitingTurn | None:
        turn = self._turns.get(key)
        if turn is None or turn.state is not TurnState.WAITING:
            return None
        turn.run_again(control)
        return WaitingTurn(_Writer(turn), turn.head, list(turn.blocks.frames(Place())))

    async def open(
        self, key: ChatKey, listener: Listener, reservation: Reservation
    ) -> LogConnection:
        turn = self._turns.get(key)
        source = FixedSource(entries.absent()) if turn is None else MemoryReader(turn)
        connection = LogConnection(source, listener, reservation, self._rounds)
        if isinstance(source, MemoryReader):
            source.turn.add_reader(source, connection)
        connection.begin()
        return connection

    async def stop(self, key: ChatKey, turn_id: str | None) -> StopResult | Rejection:
        turn = self._turns.get(key)
        if turn is None or turn.state is TurnState.OVER:
            return Rejection.UNKNOWN
        if turn.state is TurnState.WAITING:
            return turn.stop_waiting(turn_id)
        return await stopped(turn.control, turn_id)

    async def answer(
        self, key: ChatKey, replies: Sequence[QuestionReply], user_id: str
    ) -> Rejection | None:
        turn = self._turns.get(key)
        if turn is None:
            return Rejection.UNKNOWN
        if turn.state is TurnState.RUNNING:
            return turn.control.answer(replies, user_id)
        is_closed = turn.state is TurnState.WAITING or turn.has_asked(replies)
        return Rejection.CLOSED if is_closed else Rejection.UNKNOWN

    async def has_undelivered(self, key: ChatKey) -> bool:
        turn = self._turns.get(key)
        return turn is not None and turn.is_undelivered

    async def session(self, key: ChatKey) -> str | None:
        return self._sessions.find(key)

    def keep_session(self, key: ChatKey, session_id: str) -> None:
        self._sessions.keep(key, session_id)

    def forget_session(self, key: ChatKey) -> None:
        self._sessions.forget(key)

    async def aclose(self) -> None:
        for turn in [*self._former.values(), *self._turns.values()]:
            self.forget(turn)

    # Calls of the turns.

    def begun(self, turn: MemoryTurn) -> None:
        """A turn has its first entry: it takes the place of the former turn of its chat."""
        former = self._former.get(turn.key)
        if former is not None:
            self.forget(former)

    def discard(self, turn: MemoryTurn) -> None:
        """Forget a turn that never began. The former one is the last turn of its chat again."""
        former = self._former.pop(turn.key, None)
        self.forget(turn)
        if former is not None:
            self._turns[turn.key] = former

    def grown(self, turn: MemoryTurn, size: int) -> None:
        """Count so many bytes that a turn holds more, and make room if that is too much."""
        self.held_bytes += size
        turn.user.held_bytes += size
        if turn.blocks.held_bytes > self._turn_bytes:
            self._drop(turn)
        while self.held_bytes > self._total_bytes and (other := self._next_to_go()) is not None:
            if other.state is TurnState.RUNNING:
                self._drop(other)
            else:
                self.forget(other)

    def _drop(self, turn: MemoryTurn) -> None:
        """Keep a turn no longer, except for the readers that it has."""
        if not turn.is_too_long:
            self._on_too_long()
        turn.drop_entries(self._turn_bytes)
        size = turn.count()
        self.held_bytes += size
        turn.user.held_bytes += size

    def keep_over(self, turn: MemoryTurn) -> None:
        """Keep a turn that is over for a while."""
        turn.user.over[turn] = None
        self.forget_later(turn, self._keep_s)

    def forget_later(self, turn: MemoryTurn, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        turn.set_timer(loop.call_later(seconds, self.forget, turn))

    def forget(self, turn: MemoryTurn) -> None:
        """Keep this turn no longer. Readers of a turn that is over have it until they leave."""
        turns = self._former if self._former.get(turn.key) is turn else self._turns
        del turns[turn.key]
        self.held_bytes -= turn.counted_bytes
        user = turn.user
        user.held_bytes -= turn.counted_bytes
        user.over.pop(turn, None)
        user.count -= 1
        if not user.count:
            del self._users[user.user_id]
        turn.forgotten()

    def _next_to_go(self) -> MemoryTurn | None:
        """Return a turn of the user with most, of those that have one which can go."""
        if not self._users:
            return None
        users = self._users.values()
        most = self._next_of(max(users, key=UserTurns.held))  # nearly always there is one
        others = map(self._next_of, sorted(users, key=UserTurns.held, reverse=True))
        return most or next(filter(None, others), None)

    def _next_of(self, user: UserTurns) -> MemoryTurn | None:
        if user.over:
            return next(iter(user.over))
        turns = [
            turn
            for turn in (*self._turns.values(), *self._former.values())
            if turn.user is user and (turn.state is TurnState.WAITING or not turn.is_too_long)
        ]
        waiting = [turn for turn in turns if turn.state is TurnState.WAITING]
        return max(waiting or turns, key=MemoryTurn.held, default=None)


class _Writer:
    """The `TurnWriter` of one claim. It is of no use once the turn has another one."""

    __slots__ = ("__weakref__", "_claim", "_turn", "append", "append_texts")

    is_kept = True

    def __init__(self, turn: MemoryTurn) -> None:
        self.append = turn.append
        self.append_texts = turn.append_texts
        self._turn = turn
        self._claim = turn.claim

    def end(self, *, is_received: bool) -> None:
        if self._turn.claim == self._claim:
            self._turn.is_received = is_received
            self._turn.end()

    def wait(self, seconds: float | None) -> None:
        if self._turn.claim == self._claim:
            self._turn.wait(seconds)

    def discard(self) -> None:
        if self._turn.claim == self._claim:
            self._turn.discard()
