"""Which of the agent's sessions belongs to which chat, in Redis.

A process also remembers those that it used, for as long as Redis does not answer.
"""

from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.lane import Lane
from turnwire.relay.turn_log.redis.servers import Call, Failed
from turnwire.relay.turn_log.sessions import MemorySessions


class RedisSessions:
    """The sessions by chat. A session is forgotten `keep_s` seconds after its last use."""

    def __init__(self, lane: Lane, keep_s: float) -> None:
        self._lane = lane
        self._kept_ms = round(keep_s * 1_000)
        self._used_here = MemorySessions(keep_s)

    async def find(self, key: ChatKey) -> str | None:
        reply = await self._lane.call(Call(scripts.SESSION, (key,), (key, "")))
        if isinstance(reply, Failed):
            return self._used_here.find(key)
        session_id: bytes = reply[0][0]
        return session_id.decode() or None

    def keep(self, key: ChatKey, session_id: str) -> None:
        self._used_here.keep(key, session_id)
        arguments = (key, "", session_id, self._kept_ms)
        self._lane.send(Call(scripts.KEEP_SESSION, (key,), arguments))
