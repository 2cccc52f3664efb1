import asyncio

import pytest

from turnwire_agent.llm.credentials.api_key import ApiKey
from turnwire_agent.llm.credentials.key_header import KEY_HEADERS
from turnwire_agent.llm.credentials.port import Credential, CredentialError, Failure
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.sources import KeyValue


class Kept:
    """A place whose key is kept until it expires."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.looks = 0
        self.gone = False
        self._kept: Secret | None = None

    def __repr__(self) -> str:
        return "Kept()"

    async def read(self) -> Secret:
        if self._kept is None:
            self.looks += 1
            await asyncio.sleep(0)
            if self.gone:
                raise CredentialError(Failure("missing", "gone"))
            self._kept = Secret(self.key)
        return self._kept

    def expire(self) -> None:
        self._kept = None


def key_of(source: Kept) -> ApiKey:
    return ApiKey(source, KEY_HEADERS["messages"])


async def test_the_key_goes_into_the_header() -> None:
    credential: Credential = ApiKey(KeyValue("canary"), KEY_HEADERS["google"])
    granted = await credential.headers()

    assert dict(granted.headers) == {"x-goog-api-key": "canary"}
    assert repr(credential) == "ApiKey(KeyValue(...), x-goog-api-key)"


async def test_the_version_moves_with_the_key_alone() -> None:
    source = Kept("first")
    credential = key_of(source)
    first = await credential.headers()
    source.expire()
    same = await credential.headers()
    source.key = "second"
    source.expire()
    second = await credential.headers()

    assert first.version == same.version != second.version
    assert dict(second.headers) == {"x-api-key": "second"}


async def test_a_refused_key_that_stays_is_looked_at_once() -> None:
    source = Kept("key")
    credential = key_of(source)
    version = (await credential.headers()).version

    tasks = [credential.refused(version) for _ in range(50)]
    assert await asyncio.gather(*tasks) == [False] * 50
    assert source.looks == 2


async def test_a_refused_key_that_changed_is_looked_at_once_for_all() -> None:
    source = Kept("first")
    credential = key_of(source)
    version = (await credential.headers()).version
    source.key = "second"

    tasks = [credential.refused(version) for _ in range(50)]
    assert await asyncio.gather(*tasks) == [True] * 50
    assert source.looks == 2
    assert dict((await credential.headers()).headers) == {"x-api-key": "second"}


async def test_a_look_that_failed_is_no_look() -> None:
    source = Kept("key")
    credential = key_of(source)
    version = (await credential.headers()).version
    source.gone = True
    with pytest.raises(CredentialError, match="gone"):
        await credential.refused(version)
    source.gone = False
    source.key = "second"

    assert await credential.refused(version)
