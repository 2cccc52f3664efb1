"""Asks Redis about turns of other processes, and the processes that run them."""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.turn_log import entries
from turnwire.core.turn_log.entries import UnreadableError
from turnwire.relay.turn_log.port import ChatKey, LastTurn
from turnwire.relay.turn_log.redis import messages, scripts
from turnwire.relay.turn_log.redis.found import FoundTurn, found_turn
from turnwire.relay.turn_log.redis.lane import Lane
from turnwire.relay.turn_log.redis.messages import read_result
from turnwire.relay.turn_log.redis.patience import patience
from turnwire.relay.turn_log.redis.servers import Call, Failed, call_of
from turnwire.relay.turn_log.redis.writer import LEASE_S

_LOOK_S: Final = 0.5
"""Seconds between two looks for a reply, if no hint comes."""

_END_LOOK_S: Final = 0.05
"""The same for the end of a turn that is being stopped: nobody hints at it."""

_GIVE_UP_S: Final = LEASE_S + 1.0
_KEPT_MS: Final = 60_000

_AGAIN_S: Final = 0.1
"""A turn that ended a moment ago may be open in Redis still: after this time it is not."""

_ENDING_S: Final = 1.0
"""How long another process may take to say whether it is ending a turn, in seconds."""


class NotRunningError(Exception):
    """No process runs the turn."""


class Asking:
    """The questions of this process that wait for a reply."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def hint(self, chat: str) -> None:
        """There may be a reply about this chat."""
        for event in self._waiting.get(chat, ()):
            event.set()

    async def ask(
        self, key: ChatKey, turn_id: str, message: bytes
    ) -> StopResult | Rejection | None:
        """Send a message to the process that runs a turn, and return what came of it.

        A turn that was stopped is over then, if it is within a few seconds.

        Raises:
            NotRunningError: the turn does not run any more.

        """
        event = asyncio.Event()
        events = self._waiting.setdefault(key, set())
        events.add(event)
        number = secrets.token_hex(8)
        try:
            sent = call_of(scripts.SEND, key, turn_id, number, message, _KEPT_MS)
            reply = await self._lane.call(sent)
            if isinstance(reply, Failed):
                return Rejection.SILENT
            if reply[0] != [1]:
                raise NotRunningError
            return await self._reply(call_of(scripts.ASK, key, turn_id, number), event)
        finally:
            events.discard(event)
            if not events:
                self._waiting.pop(key, None)

    async def _reply(self, call: Call, event: asyncio.Event) -> StopResult | Rejection | None:
        loop = asyncio.get_running_loop()
        until = loop.time() + _GIVE_UP_S
        was_running = True
        result: StopResult | Rejection | None = Rejection.SILENT
        while loop.time() < until:
            try:
                async with asyncio.timeout(_LOOK_S if result is Rejection.SILENT else _END_LOOK_S):
                    await event.wait()
            except TimeoutError:
                pass
            event.clear()
            reply = await self._lane.call(call)
            if isinstance(reply, Failed):
                continue
            is_running, data = reply[0]
            if data:
                result = read_result(data)
                if not is_running or not isinstance(result, StopResult):
                    return result
            elif not is_running and not was_running:  # twice: a reply may follow the end
                raise NotRunningError
            was_running = bool(is_running)
        return result


class Elsewhere:
    """Asks about turns that do not run in this process."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._asking = Asking(lane)
        self.hint = self._asking.hint

    async def ask_again(self, call: Call, is_busy: Callable[[list[Any]], bool]) -> list[Any] | None:
        """Return the reply to a call for one chat; None: there is none.

        A turn that ended a moment ago may be open in Redis still. So ask twice if it is busy.
        """
        try:
            async with patience():
                reply = await self._lane.call(call)
                if not isinstance(reply, Failed) and is_busy(reply[0]):
                    await asyncio.sleep(_AGAIN_S)
                    reply = await self._lane.call(call)
        except TimeoutError:
            return None
        return None if isinstance(reply, Failed) else reply[0]

    async def find(self, key: ChatKey) -> FoundTurn | Failed | None:
        """Return the last turn of a chat."""
        reply = await self._lane.call(call_of(scripts.FIND, key, ""))
        return reply if isinstance(reply, Failed) else found_turn(reply[0])

    async def last(self, key: ChatKey) -> LastTurn | Rejection | None:
        """Return the turn that a chat has (`relay.turn_log.port.TurnLog.last`)."""
        try:
            async with patience():
                found = await self.find(key)
            if not isinstance(found, FoundTurn):
                return None if found is None else Rejection.SILENT
            return LastTurn(entries.read_head(found.head), found.is_running)
        except (TimeoutError, UnreadableError):
            return Rejection.SILENT

    async def is_ending(self, key: ChatKey, process: str) -> bool:
        """Whether the turn that runs is being ended, or is over. `process`: who asks."""
        try:
            async with asyncio.timeout(_ENDING_S):
                found = await self.find(key)
                result = await self.sent(key, found, messages.ending(process))
        except TimeoutError:
            return False
        return result is None or result is Rejection.UNKNOWN

    async def sent(
        self,
        key: ChatKey,
        found: FoundTurn | Failed | None,
        message: bytes,
        over: Rejection = Rejection.UNKNOWN,
    ) -> StopResult | Rejection | None:
        """Send a message to the process of the turn. `over`: the result if it does not run."""
        if not isinstance(found, FoundTurn):
            return Rejection.UNKNOWN if found is None else Rejection.SILENT
        if found.is_running:
            with suppress(NotRunningError):
                return await self._asking.ask(key, found.turn_id, message)
        return over
