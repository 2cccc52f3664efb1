"""The key set (JWKS) of the token issuer: fetched over HTTP, cached, and refreshed.

`Jwks` is a `KeySource` of `JwtIdentity`.
"""

import asyncio
import ssl
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, Final

import jwt
import msgspec
import structlog
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire.config.keys import Algorithm, BadKeyError, Key, checked_key
from turnwire.errors import Unauthorized, Unavailable
from turnwire.web.auth.http_client import Answer, HttpClient, NoAnswerError

_log = structlog.get_logger("turnwire.jwks")

SET_BYTES_MAX: Final = 262_144
KEYS_MAX: Final = 100

FRESH_S: Final = 600.0
"""A set older than this is fetched again, while requests go on with the old one."""
STALE_S: Final = 3600.0
"""If the set is older than this, requests wait for a new one: a key may have been withdrawn."""
PAUSE_S: Final = 30.0
"""Shortest time between two fetches, so that invented key ids do not cause more of them."""
RETRY_S: Final = 5.0
"""Shortest time between two fetches while there is no set at all."""

FETCH_RESULTS: Final = ("ok", "failed")
"""The results of a fetch; metric labels."""

_KEY_TYPES: Final[dict[Algorithm, tuple[str, str | None, tuple[str, ...]]]] = {
    "RS256": ("RSA", None, ("n", "e")),
    "ES256": ("EC", "P-256", ("crv", "x", "y")),
    "EdDSA": ("OKP", "Ed25519", ("crv", "x")),
}
"""For each algorithm: the key's type, its curve, and the fields of its public part.

HS256 is absent: its key is secret, and a key set is public.
"""


class _Set(Struct):
    keys: list[Raw]


class _Jwk(Struct):
    kty: str
    kid: str | None = None
    use: str | None = None
    key_ops: list[str] | None = None
    alg: str | None = None
    crv: str | None = None
    n: str = ""
    e: str = ""
    x: str = ""
    y: str = ""
    d: Raw | UnsetType = UNSET


def _ignore(_: str) -> None:
    """The default of `on_fetch`."""


class _NoSetError(Exception):
    """The answer is no key set."""


_KeysWithIds = Sequence[tuple[str | None, Key]]

_set_decoder = msgspec.json.Decoder(_Set)
_jwk_decoder = msgspec.json.Decoder(_Jwk)


class Jwks:
    """Public keys by key id. A token without a key id is accepted only if the set has one key.

    One fetch runs at a time. While the server fails or its answers are invalid, the last set stays
    in use. `on_fetch` is called after each fetch with its result, one of `FETCH_RESULTS`. The owner
    of this object calls `aclose`.
    """

    def __init__(
        self,
        url: str,
        algorithm: Algorithm,
        *,
        timeout_s: float,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
        on_fetch: Callable[[str], object] = _ignore,
    ) -> None:
        self._url = url
        self._on_fetch = on_fetch
        self._made_at = clock()
        self._algorithm = algorithm
        self._client = HttpClient(timeout_s=timeout_s, connections=1, tls=tls)
        self._clock = clock
        self._keys: _KeysWithIds | None = None
        self._fetched_at = self._tried_at = float("-inf")
        self._has_failed = False
        self._fetch_task: asyncio.Task[None] | None = None

    async def keys_for(self, key_id: str | None) -> Sequence[Key]:
        """The keys with that id; for None the only key of the set.

        Raises:
            Unauthorized: there is no such key.
            Unavailable: there is no such key, and the last fetch of the set failed.

        """
        age_s = self._clock() - self._fetched_at
        if age_s >= FRESH_S:
            fetch = self._start_fetch(RETRY_S if self._keys is None else PAUSE_S)
            if age_s >= STALE_S:
                await _wait_for(fetch)
        keys = self._keys_of(key_id)
        if not keys and key_id is not None and self._keys is not None:
            await _wait_for(self._start_fetch(PAUSE_S))
            keys = self._keys_of(key_id)
        if not keys and self._has_failed:
            raise Unavailable("the key set cannot be fetched")
        if not keys:
            raise Unauthorized("no key of that id" if key_id is not None else "names no key")
        return keys

    @property
    def age_s(self) -> float:
        """Age of the set in use, in seconds; before the first set, the age of this object."""
        return self._clock() - (self._made_at if self._keys is None else self._fetched_at)

    async def aclose(self) -> None:
        if self._fetch_task is not None:
            self._fetch_task.cancel()
            await asyncio.wait([self._fetch_task])
        await self._client.aclose()

    def _keys_of(self, key_id: str | None) -> Sequence[Key]:
        keys = self._keys or ()
        if key_id is None:
            return [key for _, key in keys] if len(keys) == 1 else []
        return [key for own_id, key in keys if own_id == key_id]

    def _start_fetch(self, pause_s: float) -> asyncio.Task[None] | None:
        """The running fetch. If none runs, a new one if the last began `pause_s` ago, else None."""
        now = self._clock()
        if self._fetch_task is None and now - self._tried_at >= pause_s:
            self._tried_at = now
            self._fetch_task = asyncio.create_task(self._fetch_once())
            self._fetch_task.add_done_callback(self._end_fetch)
        return self._fetch_task

    def _end_fetch(self, _: asyncio.Task[None]) -> None:
        self._fetch_task = None

    async def _fetch_once(self) -> None:
        try:
            answer = await self._client.get(self._url, {}, max_bytes=SET_BYTES_MAX)
            keys = _usable_keys(answer, self._algorithm)
        except (NoAnswerError, _NoSetError) as exc:
            self._has_failed = True
            self._on_fetch("failed")
            _log.warning("no key set", problem=str(exc), old_one_kept=self._keys is not None)
            return
        self._has_failed = False
        self._on_fetch("ok")
        self._keys, self._fetched_at = keys, self._clock()
        log = _log.info if keys else _log.warning
        log("key set fetched", usable_keys=len(keys), algorithm=self._algorithm)


async def _wait_for(fetch: asyncio.Task[None] | None) -> None:
    if fetch is not None:
        # Shielded: if the first request is cancelled, the other requests still need the fetch.
        await asyncio.shield(fetch)


def _usable_keys(answer: Answer, algorithm: Algorithm) -> _KeysWithIds:
    """The keys of the set that can verify tokens of the algorithm, with their ids."""
    if answer.status != HTTPStatus.OK:
        raise _NoSetError(f"status {answer.status}")
    if answer.body is None:
        raise _NoSetError("an answer too long")
    try:
        raw_keys = _set_decoder.decode(answer.body).keys
    except (ValueError, RecursionError) as exc:
        raise _NoSetError("an answer that is no key set") from exc
    if len(raw_keys) > KEYS_MAX:
        raise _NoSetError("too many keys")
    return [entry for raw_key in raw_keys if (entry := _key(raw_key, algorithm)) is not None]


def _key(raw: Raw, algorithm: Algorithm) -> tuple[str | None, Key] | None:
    """A key and its id; None if the key is for another use or invalid. Other keys stay usable."""
    kty, crv, fields = _KEY_TYPES[algorithm]
    try:
        jwk = _jwk_decoder.decode(raw)
        if jwk.kty != kty or jwk.crv != crv or not _may_verify(jwk, algorithm):
            return None
        public: dict[str, Any] = {"kty": kty, **{field: getattr(jwk, field) for field in fields}}
        key = jwt.PyJWK(public, algorithm).key
        return jwk.kid, checked_key(key, algorithm)
    except (ValueError, RecursionError, jwt.PyJWTError) as exc:
        problem = str(exc) if isinstance(exc, BadKeyError) else type(exc).__name__
        _log.warning("a key of the key set is not usable", problem=problem)
        return None


def _may_verify(jwk: _Jwk, algorithm: Algorithm) -> bool:
    """Whether the key may verify this algorithm. A key that shows its private part is rejected."""
    return (
        jwk.use in {None, "sig"}
        and (jwk.key_ops is None or "verify" in jwk.key_ops)
        and jwk.alg in {None, algorithm}
        and jwk.d is UNSET
    )
