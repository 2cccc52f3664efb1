"""Cache of verified tokens: to verify a signature takes a sixth of a short turn's time.

The cache holds what cannot change: the user, the claims, and the key that verified the signature.
`VerifiedToken.is_valid` checks what can change: whether that key may still sign, and the clock. The
cache holds a hash of each token, not the token.
"""

import hashlib
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from cachetools import LRUCache
from msgspec import Struct

from turnwire.config.keys import Key

TOKENS_MAX: Final = 4096

_UNIT_BYTES: Final = 1024
"""A token takes one unit of the cache, and one more for each so many bytes: claims take memory."""


class VerifiedToken(Struct, frozen=True):
    """The content of a token whose signature was verified."""

    user_id: str
    claims: Mapping[str, Any]
    key_id: str | None
    """The key id in the token's header."""
    key: Key
    starts_at: float
    """From when until `expires_at` the token is accepted, in seconds of the epoch, with leeway."""
    expires_at: float

    def is_valid(self, keys: Sequence[Key], now: float) -> bool:
        """Whether the token is accepted at `now`, if `keys` are the keys that may sign."""
        is_in_time = self.starts_at <= now < self.expires_at
        return is_in_time and any(key is self.key for key in keys)


class VerifiedTokens:
    """The most recently used tokens: at most `TOKENS_MAX`, fewer if they are long."""

    def __init__(self) -> None:
        self._tokens: LRUCache[bytes, tuple[VerifiedToken, int]] = LRUCache(
            TOKENS_MAX, itemgetter(1)
        )

    def get(self, token: str) -> VerifiedToken | None:
        entry = self._tokens.get(_hash(token))
        return None if entry is None else entry[0]

    def put(self, token: str, verified: VerifiedToken) -> None:
        self._tokens[_hash(token)] = verified, 1 + len(token) // _UNIT_BYTES


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
