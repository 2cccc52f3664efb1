"""What Redis says of the turns of chats, and what the processes say that run them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.turn_log import entries
from turnwire.core.turn_log.entries import UnreadableError
from turnwire.relay.turn_log.port import ChatKey, LastTurn
from turnwire.relay.turn_log.redis import messages, scripts
from turnwire.relay.turn_log.redis.asking import Asking, NotRunningError
from turnwire.relay.turn_log.redis.found import FoundTurn, found_turn
from turnwire.relay.turn_log.redis.lane import Lane
from turnwire.relay.turn_log.redis.patience import patience
from turnwire.relay.turn_log.redis.servers import Call, Failed

_AGAIN_S: Final = 0.1
"""A turn that ended a moment ago may be open in Redis still: after this time it is not."""

_ENDING_S: Final = 1.0
"""How long another process may take to say whether it is ending a turn, in seconds."""


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
        reply = await self._lane.call(Call(scripts.FIND, (key,), (key, "")))
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
