"""Key sets that change when they are told to, and time that does."""

import json
from typing import Any

from turnwire_agent.access.public_keys import NoKeySetError


def key_set(*keys: Any) -> bytes:
    return json.dumps({"keys": keys}).encode()


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Told:
    """A source that has what it is told to have."""

    def __init__(self, *keys: Any, fresh_s: float = 600.0) -> None:
        self.body: bytes | None = key_set(*keys)
        self.fresh_s = fresh_s
        self.readings = 0

    async def read(self) -> bytes:
        self.readings += 1
        if self.body is None:
            raise NoKeySetError("its server answers 500")
        return self.body
