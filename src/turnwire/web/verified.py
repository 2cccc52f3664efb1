"""Tokens whose signature was good: to verify one takes a sixth of a short turn, so it is done once.

What is remembered is what cannot change: who a token is about, and which key fitted. What can
is looked at each time: whether that key is still among those that may sign, and the clock. Of the
token only a hash is kept.
"""

import hashlib
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from cachetools import LRUCache
from msgspec import Struct

from turnwire.keys import Key

TOKENS_MAX: Final = 4096

_USUAL_BYTES: Final = 1024
"""A longer token takes the place of several: what it says takes memory in proportion."""


class Verified(Struct, frozen=True):
    """What a good token said."""

    user_id: str
    claims: Mapping[str, Any]
    key_id: str | None
    """What it calls its key."""
    key: Key
    starts_at: float
    """From when to when it is taken, in seconds of the epoch; the leeway is in it."""
    expires_at: float

    def holds(self, keys: Sequence[Key], now: float) -> bool:
        """Whether it would be found good again."""
        is_time = self.starts_at <= now < self.expires_at
        return is_time and any(key is self.key for key in keys)


class VerifiedTokens:
    """The tokens that were seen last, at most `TOKENS_MAX`, and fewer where they are long."""

    def __init__(self) -> None:
        self._known: LRUCache[bytes, tuple[Verified, int]] = LRUCache(TOKENS_MAX, itemgetter(1))

    def get(self, token: str) -> Verified | None:
        found = self._known.get(_hash(token))
        return None if found is None else found[0]

    def put(self, token: str, verified: Verified) -> None:
        self._known[_hash(token)] = verified, 1 + len(token) // _USUAL_BYTES


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
