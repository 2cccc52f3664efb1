import pytest

from turnwire_agent.llm.credentials.port import (
    Credential,
    CredentialError,
    Failure,
    Granted,
    unless_failed,
)
from turnwire_agent.llm.credentials.secret import Secret


class Mine:
    """What an operator may bring: it knows nothing of ours but the port."""

    async def headers(self) -> Granted:
        return Granted({"x-mine": "key"}, version="1")

    async def refused(self, version: str) -> bool:
        return version != "1"


async def test_any_class_with_two_methods_is_a_credential() -> None:
    credential: Credential = Mine()
    granted = await credential.headers()

    assert dict(granted.headers) == {"x-mine": "key"}
    assert not await credential.refused(granted.version)


def test_what_is_granted_shows_its_version_alone() -> None:
    granted = Granted({"x-api-key": "canary"}, "7")

    assert repr(granted) == "Granted(version='7')"


def test_a_failure_becomes_an_exception_with_its_text() -> None:
    failure = Failure("missing", "No key.")

    with pytest.raises(CredentialError, match=r"^No key\.$") as raised:
        unless_failed(failure)

    assert raised.value.failure is failure
    assert unless_failed(Secret("key")) == Secret("key")
