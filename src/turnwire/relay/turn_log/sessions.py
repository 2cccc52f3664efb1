"""Which of the agent's sessions belongs to which chat, in the memory of one process."""

import time
from typing import Final

from turnwire.relay.turn_log.port import ChatKey

SESSIONS_MAX: Final = 100_000
"""Most chats whose session is kept. Of more, the one that was used longest ago is forgotten."""

KEEP_S: Final = 2_592_000.0
"""How long a session is kept after its last use, in seconds, if nothing else is said."""


class MemorySessions:
    """The sessions by chat. A session is forgotten `keep_s` seconds after its last use."""

    def __init__(self, keep_s: float) -> None:
        self._keep_s = keep_s
        self._sessions: dict[ChatKey, tuple[str, float]] = {}
        """With the time until which each is kept. The first one was used longest ago."""

    def find(self, key: ChatKey) -> str | None:
        session_id, until = self._sessions.get(key, (None, 0.0))
        return session_id if time.monotonic() < until else None

    def forget(self, key: ChatKey) -> None:
        self._sessions.pop(key, None)

    def keep(self, key: ChatKey, session_id: str) -> None:
        self.forget(key)
        if len(self._sessions) >= SESSIONS_MAX:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[key] = session_id, time.monotonic() + self._keep_s
