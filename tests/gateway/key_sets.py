"""A server of key sets, and whoever asks it."""

import json
from typing import Any, Self

import pytest

from gateway.control_plane import ControlPlane as Server
from gateway.control_plane import Reply, reply
from gateway.signers import Signer
from gateway.waiting import until
from turnwire.config.keys import Algorithm
from turnwire.errors import Unauthorized, Unavailable
from turnwire.web.auth.jwks import Jwks


def key_set(*told: Any) -> bytes:
    return reply(200, json.dumps({"keys": told}).encode(), "content-type: application/json")


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Asked:
    """`async with Asked(key_set(...)) as asked:`: a server and whoever asks it."""

    def __init__(
        self, says: bytes | Reply, algorithm: Algorithm = "ES256", *, timeout_s: float = 5
    ) -> None:
        self.server = Server(says)
        self.clock = Clock()
        self._algorithm = algorithm
        self._timeout_s = timeout_s

    @property
    def fetches(self) -> int:
        return len(self.server.questions)

    async def has(self, key_id: str | None, *signers: Signer) -> None:
        assert await self.jwks.keys_for(key_id) == [s.private.public_key() for s in signers]

    async def has_not(self, key_id: str | None) -> None:
        with pytest.raises(Unauthorized):
            await self.jwks.keys_for(key_id)

    async def cannot_tell(self, key_id: str | None = "k1") -> None:
        with pytest.raises(Unavailable):
            await self.jwks.keys_for(key_id)

    async def settled(self) -> None:
        """Wait for a fetch in the background."""
        await until(lambda: self.jwks._fetch_task is None)

    async def __aenter__(self) -> Self:
        await self.server.__aenter__()
        self.jwks = Jwks(
            f"http://127.0.0.1:{self.server.port}/jwks?tenant=1",
            self._algorithm,
            timeout_s=self._timeout_s,
            clock=self.clock,
        )
        return self

    async def __aexit__(self, *left: object) -> None:
        await self.jwks.aclose()
        await self.server.__aexit__(None, None, None)
