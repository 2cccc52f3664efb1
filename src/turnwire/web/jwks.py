"""The key set (JWKS) of whoever signs the tokens: fetched, kept, and fetched anew in time."""

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

from turnwire.errors import Unauthorized, Unavailable
from turnwire.keys import Algorithm, BadKeyError, Key, checked
from turnwire.web.http_client import Answer, HttpClient, NoAnswerError

_log = structlog.get_logger("turnwire.jwks")

SET_BYTES_MAX: Final = 262_144
KEYS_MAX: Final = 100

FRESH_S: Final = 600.0
"""A set older than this is fetched anew, while requests go on with it."""
AGED_S: Final = 3600.0
"""For one older than this, requests wait: a key may have been withdrawn overnight."""
PAUSE_S: Final = 30.0
"""From one fetch to the next, at least: whoever makes up key ids causes no more than that."""
RETRY_S: Final = 5.0
"""The same, as long as there is no set at all."""

FETCHED: Final = ("ok", "failed")

_KINDS: Final[dict[Algorithm, tuple[str, str | None, tuple[str, ...]]]] = {
    "RS256": ("RSA", None, ("n", "e")),
    "ES256": ("EC", "P-256", ("crv", "x", "y")),
    "EdDSA": ("OKP", "Ed25519", ("crv", "x")),
}
"""What a key of an algorithm says of its type and its curve, and which fields are its public part.
There is none for HS256: a key that everybody can fetch signs nothing."""


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


def _untold(_: str) -> None:
    """Nobody wants to know."""


class _NoSetError(Exception):
    """An answer that is no key set."""


_Named = Sequence[tuple[str | None, Key]]

_set = msgspec.json.Decoder(_Set)
_jwk = msgspec.json.Decoder(_Jwk)


class Jwks:
    """Public keys by the id that a token gives; a token without one is good for a set of one key.

    One fetch at a time. While the server is down, or talks nonsense, the last set stays good.
    Whoever made it closes it. `tell` is told how each fetch went: one of `FETCHED`.
    """

    def __init__(
        self,
        url: str,
        algorithm: Algorithm,
        *,
        within_s: float,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
        tell: Callable[[str], object] = _untold,
    ) -> None:
        self._url = url
        self._tell = tell
        self._made_at = clock()
        self._algorithm = algorithm
        self._client = HttpClient(within_s=within_s, connections=1, tls=tls)
        self._clock = clock
        self._keys: _Named | None = None
        self._fetched_at = self._tried_at = float("-inf")
        self._failed = False
        self._fetching: asyncio.Task[None] | None = None

    async def fitting(self, key_id: str | None) -> Sequence[Key]:
        """The keys of that id.

        Raises:
            Unauthorized: there is none.
            Unavailable: that cannot be told, since the set cannot be had.

        """
        age_s = self._clock() - self._fetched_at
        if age_s >= FRESH_S:
            fetching = self._fetch(RETRY_S if self._keys is None else PAUSE_S)
            if age_s >= AGED_S:
                await _end_of(fetching)
        found = self._named(key_id)
        if not found and key_id is not None and self._keys is not None:
            await _end_of(self._fetch(PAUSE_S))
            found = self._named(key_id)
        if not found and self._failed:
            raise Unavailable("the key set cannot be fetched")
        if not found:
            raise Unauthorized("no key of that id" if key_id is not None else "names no key")
        return found

    @property
    def age_s(self) -> float:
        """Of the set in use; while there is none, how long there has been none."""
        return self._clock() - (self._made_at if self._keys is None else self._fetched_at)

    async def aclose(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait([self._fetching])
        await self._client.aclose()

    def _named(self, key_id: str | None) -> Sequence[Key]:
        keys = self._keys or ()
        if key_id is None:
            return [key for _, key in keys] if len(keys) == 1 else []
        return [key for known_as, key in keys if known_as == key_id]

    def _fetch(self, pause_s: float) -> asyncio.Task[None] | None:
        """The fetch under way, if there is one; else a new one, if the last is long enough ago."""
        now = self._clock()
        if self._fetching is None and now - self._tried_at >= pause_s:
            self._tried_at = now
            self._fetching = asyncio.create_task(self._fetch_once())
            self._fetching.add_done_callback(self._fetched)
        return self._fetching

    def _fetched(self, _: asyncio.Task[None]) -> None:
        self._fetching = None

    async def _fetch_once(self) -> None:
        try:
            answer = await self._client.get(self._url, {}, most_bytes=SET_BYTES_MAX)
            keys = _usable(answer, self._algorithm)
        except (NoAnswerError, _NoSetError) as exc:
            self._failed = True
            self._tell("failed")
            _log.warning("no key set", problem=str(exc), old_one_kept=self._keys is not None)
            return
        self._failed = False
        self._tell("ok")
        self._keys, self._fetched_at = keys, self._clock()
        tell = _log.info if keys else _log.warning
        tell("key set fetched", usable_keys=len(keys), algorithm=self._algorithm)


async def _end_of(fetching: asyncio.Task[None] | None) -> None:
    if fetching is not None:
        # Shielded: whoever asked first may leave, and others wait for it.
        await asyncio.shield(fetching)


def _usable(answer: Answer, algorithm: Algorithm) -> _Named:
    """The keys of a set that tokens of the algorithm may be signed with."""
    if answer.status != HTTPStatus.OK:
        raise _NoSetError(f"status {answer.status}")
    if answer.body is None:
        raise _NoSetError("an answer too long")
    try:
        told = _set.decode(answer.body).keys
    except (ValueError, RecursionError) as exc:
        raise _NoSetError("an answer that is no key set") from exc
    if len(told) > KEYS_MAX:
        raise _NoSetError("too many keys")
    return [named for each in told if (named := _key(each, algorithm)) is not None]


def _key(told: Raw, algorithm: Algorithm) -> tuple[str | None, Key] | None:
    """A key and its id; None if it is for something else, or broken: that spoils no other."""
    kty, crv, fields = _KINDS[algorithm]
    try:
        jwk = _jwk.decode(told)
        if jwk.kty != kty or jwk.crv != crv or not _is_for(jwk, algorithm):
            return None
        public: dict[str, Any] = {"kty": kty, **{field: getattr(jwk, field) for field in fields}}
        key = jwt.PyJWK(public, algorithm).key
        return jwk.kid, checked(key, algorithm)
    except (ValueError, RecursionError, jwt.PyJWTError) as exc:
        problem = str(exc) if isinstance(exc, BadKeyError) else type(exc).__name__
        _log.warning("a key of the key set is not usable", problem=problem)
        return None


def _is_for(jwk: _Jwk, algorithm: Algorithm) -> bool:
    """Whether it verifies such signatures. One whose private part is told to all is nobody's."""
    return (
        jwk.use in {None, "sig"}
        and (jwk.key_ops is None or "verify" in jwk.key_ops)
        and jwk.alg in {None, algorithm}
        and jwk.d is UNSET
    )
