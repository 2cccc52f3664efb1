"""Which of the agent's sessions belongs to which chat, in Redis.

A process also remembers those that it used, for as long as Redis does not answer. What Redis did
not get counts more than what it has, and is sent again when it is asked for.
"""

import asyncio
from functools import partial
from typing import Any, Final

from turnwire.core import bounds
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.lane import Lane
from turnwire.relay.turn_log.redis.servers import Failed, Reply, call_of
from turnwire.relay.turn_log.sessions import MemorySessions

LOST_MAX: Final = 10_000
"""Most chats whose session Redis did not get. Of more, the oldest is forgotten."""

_NONE: Final = ""
"""What Redis has instead of a session that was forgotten."""


def _session(reply: list[list[Any]]) -> str | None:
    session_id: bytes = reply[0][0]
    return session_id.decode() or None


class RedisSessions:
    """The sessions by chat. A session is forgotten `keep_s` seconds after its last use."""

    def __init__(self, lane: Lane, keep_s: float) -> None:
        self._lane = lane
        self._kept_ms = round(keep_s * 1_000)
        self._used_here = MemorySessions(keep_s)
        self._lost: dict[ChatKey, str] = {}
        """The last of each chat that Redis did not get, or did not say that it has."""

    async def find(self, key: ChatKey) -> str | None:
        lost = self._lost.get(key)
        if lost is None:
            reply = await self._lane.call(call_of(scripts.SESSION, key, ""))
            lost = self._lost.get(key)  # the write was under way until now
            if lost is None:
                return self._used_here.find(key) if isinstance(reply, Failed) else _session(reply)
        self._write(key, lost)
        return lost or None

    def keep(self, key: ChatKey, session_id: str) -> None:
        self._used_here.keep(key, session_id)
        self._write(key, session_id)

    def forget(self, key: ChatKey) -> None:
        self._used_here.forget(key)
        self._write(key, _NONE)

    def _write(self, key: ChatKey, session_id: str) -> None:
        self._lost.pop(key, None)
        call = call_of(scripts.KEEP_SESSION, key, "", session_id, self._kept_ms)
        written = self._lane.send(call)
        if written is None:
            bounds.keep(self._lost, key, session_id, LOST_MAX)
        else:
            written.add_done_callback(partial(self._note_reply, key, session_id))

    def _note_reply(self, key: ChatKey, session_id: str, written: "asyncio.Future[Reply]") -> None:
        is_last = (self._used_here.find(key) or _NONE) == session_id
        if is_last and isinstance(written.result(), Failed):
            bounds.keep(self._lost, key, session_id, LOST_MAX)
