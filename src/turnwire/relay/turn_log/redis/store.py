"""The turn log in a Redis.

A prompt waits for Redis `ANSWER_S` at most, and only while Redis answers. Without it each process
guards its own chats, and keeps no turn.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import structlog

from turnwire.core.events import Reason, TurnFinished
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log import entries
from turnwire.relay.agent.port import Listener
from turnwire.relay.memory_budget import Reservation
from turnwire.relay.rounds import Rounds
from turnwire.relay.turn_log.port import (
    NOBODY,
    ChatKey,
    LastTurn,
    TurnControl,
    WaitingTurn,
    stopped,
)
from turnwire.relay.turn_log.reader import FixedSource, LogConnection
from turnwire.relay.turn_log.redis import messages, scripts
from turnwire.relay.turn_log.redis.address import read
from turnwire.relay.turn_log.redis.asking import Elsewhere
from turnwire.relay.turn_log.redis.found import LONG, LOST, WAITING, FoundTurn, is_taken_by_another
from turnwire.relay.turn_log.redis.lane import Lane
from turnwire.relay.turn_log.redis.patience import patience
from turnwire.relay.turn_log.redis.reader import READ_BYTES, RedisReader
from turnwire.relay.turn_log.redis.readers import Readers
from turnwire.relay.turn_log.redis.servers import Failed, Servers, call_of
from turnwire.relay.turn_log.redis.sessions import RedisSessions
from turnwire.relay.turn_log.redis.turn import RedisTurn
from turnwire.relay.turn_log.redis.writer import LEASE_S, Writer
from turnwire.relay.turn_log.sessions import KEEP_S
from turnwire.relay.turn_log.tasks import end

_log = structlog.get_logger("turnwire.turn_log")

_LEASE_MS: Final = round(LEASE_S * 1_000)

_LISTEN_S: Final = 1.0  # between two tries to get hints
_REPLY_KEPT_MS: Final = 60_000
_WARN_EVERY_S: Final = 30.0

_REPLIES: Final = 1_024
"""Most replies that are kept of a turn, in case that their messages come twice."""

_READ_HEAD: Final = 2
"""What stands before the frames in a reply to `scripts.READ`."""


def _ignore() -> None:
    """Do nothing."""


class RedisTurnLog:
    """A `TurnLog` for all processes with the same Redis.

    It keeps at most `turn_bytes` of one turn. At most `total_bytes` of this process wait for Redis.
    A turn that is over is kept for `keep_s` seconds. `on_too_long` is called for each turn that is
    no longer kept for new readers, `on_failure` for each time that Redis did not answer or refused.
    """

    def __init__(
        self,
        url: str,
        rounds: Rounds,
        *,
        turn_bytes: int,
        total_bytes: int,
        keep_s: float,
        session_keep_s: float = KEEP_S,
        on_too_long: Callable[[], object] = _ignore,
        on_failure: Callable[[], object] = _ignore,
    ) -> None:
        self._rounds = rounds
        self._turn_bytes = turn_bytes
        self._keep_s = keep_s
        self._on_too_long = on_too_long
        self._on_failure = on_failure
        self._warn_at = 0.0
        self._process = secrets.token_hex(8)
        self._turns: dict[ChatKey, RedisTurn] = {}
        """The last turn of each chat that ran here, until Redis has its end."""
        self._servers = Servers(read(url), self._failed)
        self._lane = Lane(self._servers)
        self._writer = Writer(
            self._servers,
            self._process,
            on_messages=self._carry_out,
            on_done=self._done,
            total_bytes=total_bytes,
            keep_s=keep_s,
        )
        self._readers = Readers(self._servers, self._lane, self._process)
        self._elsewhere = Elsewhere(self._lane)
        sessions = RedisSessions(self._lane, session_keep_s)
        self.session = sessions.find
        self.keep_session, self.forget_session = sessions.keep, sessions.forget
        self._listening: asyncio.Task[None] | None = None
        self._has_mail: dict[RedisTurn, None] = {}
        self._taking_mail: asyncio.Task[None] | None = None
        self._taking_back: set[asyncio.Task[None]] = set()

    @property
    def turns(self) -> int:
        return len(self._writer)

    @property
    def held_bytes(self) -> int:
        return self._writer.held_bytes

    async def claim(self, key: ChatKey, head: bytes, control: TurnControl) -> RedisTurn | None:
        self._listen()
        former = self._turns.get(key)
        if former is not None and former.is_running:
            return None
        turn = self._turns[key] = self._new_turn(key, secrets.token_hex(8), head, control)
        try:
            reply = await self._claim(turn, former)
        except BaseException:  # it may have been claimed
            self._writer.add(turn)
            turn.claim_without_frames()
            turn.discard()
            raise
        if reply is not None and reply != [1]:
            turn.discard()
            self._writer.forget(turn)
            if former is not None and former in self._writer:
                self._turns.setdefault(key, former)
            return None
        self._writer.add(turn)
        if reply is None:
            turn.claim_without_frames()
            if former is not None:  # Redis may not know that it is over
                former.lose(LOST)
        elif former is not None and former in self._writer:
            self._writer.forget(former)
        turn.has_lease = True
        return turn

    async def last(self, key: ChatKey) -> LastTurn | Rejection | None:
        local = self._turns.get(key)
        if local is not None and local.is_running:
            return LastTurn(entries.read_head(local.head), is_running=True)
        return await self._elsewhere.last(key)

    async def is_ending(self, key: ChatKey) -> bool:
        local = self._turns.get(key)
        if local is not None and local.is_running:
            return local.control.is_ending
        return await self._elsewhere.is_ending(key, self._process)

    async def resume_waiting(self, key: ChatKey, control: TurnControl) -> WaitingTurn | None:
        self._listen()
        local = self._turns.get(key)
        if local is not None:
            if local.is_running:
                return None
            await self._writer.settle(local)
        call = call_of(scripts.RESUME, key, "", self._process, _LEASE_MS, self._writer.kept_ms)
        reply = await self._elsewhere.ask_again(call, lambda reply: reply == [b""])
        match reply:
            case [bytes(turn_id), bytes(head), base, int(count)]:
                turn = self._new_turn(key, turn_id.decode(), head, control)
                return await self._resumed(turn, max(0, int(base or 0)), count)
            case _:
                return None

    async def open(
        self, key: ChatKey, listener: Listener, reservation: Reservation
    ) -> LogConnection:
        self._listen()
        found = await self._elsewhere.find(key)
        source: FixedSource | RedisReader
        if isinstance(found, FoundTurn) and found.is_read:
            source = RedisReader(
                key,
                found.turn_id,
                found.opening(),
                found.base,
                asyncio.get_running_loop().time(),
                on_need=self._readers.need,
                on_close=self._readers.remove,
            )
        else:
            is_long = isinstance(found, FoundTurn) and found.note == LONG
            source = FixedSource(entries.too_long() if is_long else entries.absent())
        connection = LogConnection(source, listener, reservation, self._rounds)
        if isinstance(source, RedisReader):
            source.connection = connection
            self._readers.add(source)
        connection.begin()
        return connection

    async def stop(self, key: ChatKey, turn_id: str | None) -> StopResult | Rejection:
        local = self._turns.get(key)
        if local is not None and local.is_running:
            return await stopped(local.control, turn_id)
        found = await self._elsewhere.find(key)
        if isinstance(found, FoundTurn) and found.state == WAITING:
            return await self._stop_waiting(key, turn_id)
        result = await self._elsewhere.sent(key, found, messages.stop(self._process, turn_id))
        return result if result is not None else Rejection.SILENT

    async def answer(
        self, key: ChatKey, replies: Sequence[QuestionReply], user_id: str
    ) -> Rejection | None:
        local = self._turns.get(key)
        if local is not None and local.is_running:
            refusal = local.control.answer(replies, user_id)
            if refusal is None:  # who answers has seen what waits, and may come back to read on
                self._writer.hurry(local)
            return refusal
        found = await self._elsewhere.find(key)
        message = messages.answer(self._process, user_id, replies)
        over = found.refusal(replies) if isinstance(found, FoundTurn) else Rejection.UNKNOWN
        result = await self._elsewhere.sent(key, found, message, over)
        return result if result is None or isinstance(result, Rejection) else Rejection.SILENT

    async def has_undelivered(self, key: ChatKey) -> bool:
        found = await self._elsewhere.find(key)
        return isinstance(found, FoundTurn) and found.is_undelivered

    async def aclose(self) -> None:
        if self._taking_back:
            await asyncio.wait(self._taking_back)
        tasks = [task for task in (self._listening, self._taking_mail) if task is not None]
        await end(*tasks)
        await self._readers.aclose()
        await self._writer.aclose()
        await self._lane.aclose()
        await self._servers.aclose()

    # Turns.

    def _new_turn(self, key: ChatKey, turn_id: str, head: bytes, control: TurnControl) -> RedisTurn:
        return RedisTurn(
            key,
            turn_id,
            head,
            control,
            on_change=self._writer.on_change,
            on_texts=self._writer.on_texts,
            on_held=self._writer.on_held,
            on_too_long=self._on_too_long,
            on_not_received=self._take_back,
            turn_bytes=self._turn_bytes,
            keep_s=self._keep_s,
        )

    async def _claim(self, turn: RedisTurn, former: RedisTurn | None) -> list[Any] | None:
        """Ask for the chat of a turn. Returns the reply; None: there is none.

        `former` ran here, and may not be written to its end yet. It shall be, since it is the last
        turn of the chat again if this one never begins.
        """
        former_id = "" if former is None else former.id
        arguments = (_LEASE_MS, self._writer.kept_ms, turn.head, "")
        call = call_of(scripts.CLAIM, turn.key, turn.id, former_id, self._process, *arguments)
        try:
            async with patience():
                if former is not None and not self._servers.is_down(turn.key):
                    await self._writer.settle(former)
                return await self._elsewhere.ask_again(
                    call, partial(is_taken_by_another, turn.head)
                )
        except TimeoutError:
            return None

    async def _resumed(self, turn: RedisTurn, base: int, count: int) -> WaitingTurn | None:
        """Read the turn that waited. It waits again if that fails."""
        turn.has_lease = True
        self._turns[turn.key] = turn
        self._writer.add(turn)
        frames: list[bytes] = []
        try:
            while len(frames) < count:
                arguments = (turn.id, base + len(frames), READ_BYTES, "", 0)
                reply = await self._lane.call(call_of(scripts.READ, turn.key, *arguments))
                if isinstance(reply, Failed) or len(reply[0]) <= _READ_HEAD:
                    break
                frames += reply[0][_READ_HEAD:]
            turn.continue_after(base, frames)
        except BaseException:
            turn.wait(None)
            raise
        if len(frames) < count:
            turn.wait(None)
            return None
        return WaitingTurn(turn, turn.head, frames)

    async def _stop_waiting(self, key: ChatKey, turn_id: str | None) -> StopResult | Rejection:
        waiting = await self.resume_waiting(key, NOBODY)
        if waiting is None:
            return Rejection.SILENT
        writer = waiting.writer
        assert isinstance(writer, RedisTurn)
        turn_ids = entries.turn_ids(waiting.frames)
        if turn_id is not None and turn_id not in turn_ids:
            writer.wait(None)
            return Rejection.OTHER_TURN
        writer.append(entries.pack(TurnFinished(reason=Reason.CANCELED)), 1)
        writer.end(is_received=False)
        await self._writer.settle(writer)
        named = turn_id or next(iter(turn_ids), None)
        return StopResult(stopped=True, turn_id=named, reason="canceled")

    def _done(self, turn: RedisTurn) -> None:
        if self._turns.get(turn.key) is turn:
            del self._turns[turn.key]

    def _take_back(self, turn: RedisTurn) -> None:
        """Say that the client of a turn did not get its end, once Redis has the end."""
        task = asyncio.create_task(self._not_received(turn))
        self._taking_back.add(task)
        task.add_done_callback(self._taking_back.discard)

    async def _not_received(self, turn: RedisTurn) -> None:
        await self._writer.settle(turn)
        self._lane.send(call_of(scripts.NOT_RECEIVED, turn.key, turn.id))

    # Hints, and messages of other processes.

    def _listen(self) -> None:
        if self._listening is None:
            self._writer.start()
            self._listening = asyncio.create_task(self._hear_hints())

    async def _hear_hints(self) -> None:
        while True:
            async for hint in self._servers.hints(f"{scripts.CHANNEL}{self._process}"):
                match hint[:1], hint[1:]:
                    case "", _:  # from here on there are hints, so look what there was before
                        self._readers.look_again()
                        self._take_mail(*self._turns.values())
                    case scripts.TO_READERS, chat:
                        self._readers.hint(chat)
                        self._elsewhere.hint(chat)
                    case scripts.TO_WRITER, chat if turn := self._turns.get(ChatKey(chat)):
                        self._take_mail(turn)
                    case _:
                        pass
            await asyncio.sleep(_LISTEN_S)

    def _take_mail(self, *turns: RedisTurn) -> None:
        self._has_mail.update(dict.fromkeys(turns))
        if self._taking_mail is None and self._has_mail:
            self._taking_mail = asyncio.create_task(self._take_all_mail())

    async def _take_all_mail(self) -> None:
        try:
            while self._has_mail:
                turns, self._has_mail = list(self._has_mail), {}
                await self._writer.keep(turns)
        finally:
            self._taking_mail = None

    def _carry_out(self, turn: RedisTurn, mail: Sequence[bytes]) -> None:
        """Do what other processes ask of a turn that runs here."""
        for number, message in zip(mail[::2], mail[1::2], strict=False):
            if number not in turn.replies:
                reply = messages.carry_out(message, turn.control)
                if reply is None:
                    continue
                self._writer.hurry(turn)  # as after an answer in this process
                if len(turn.replies) >= _REPLIES:
                    del turn.replies[next(iter(turn.replies))]
                turn.replies[number] = reply
            process, result = turn.replies[number]
            arguments = (turn.id, number, process, result, _REPLY_KEPT_MS)
            self._lane.send(call_of(scripts.REPLY, turn.key, *arguments))

    def _failed(self, reason: str) -> None:
        self._on_failure()
        now = time.monotonic()
        if now >= self._warn_at:
            self._warn_at = now + _WARN_EVERY_S
            _log.warning("turns are not kept", problem=reason)
