"""Asks the process that runs a turn, and waits for its reply."""

import asyncio
import secrets
from typing import Final

from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.lane import Lane
from turnwire.relay.turn_log.redis.messages import read_result
from turnwire.relay.turn_log.redis.servers import Call, Failed
from turnwire.relay.turn_log.redis.writer import LEASE_S

_LOOK_S: Final = 0.5
"""Seconds between two looks for a reply, if no hint comes."""

_END_LOOK_S: Final = 0.05
"""The same for the end of a turn that is being stopped: nobody hints at it."""

_GIVE_UP_S: Final = LEASE_S + 1.0
_KEPT_MS: Final = 60_000


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
            arguments = (key, turn_id, number, message, _KEPT_MS)
            reply = await self._lane.call(Call(scripts.SEND, (key,), arguments))
            if isinstance(reply, Failed):
                return Rejection.SILENT
            if reply[0] != [1]:
                raise NotRunningError
            return await self._reply(Call(scripts.ASK, (key,), (key, turn_id, number)), event)
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
