"""The port of credentials: what a call asks of one, and how one fails."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from msgspec import Struct

T = TypeVar("T")

Reason = Literal["missing", "unusable", "log-in", "refused", "unavailable"]
"""Why there is no credential.

`missing`: there is no key at the place where one was looked for. `unusable`: what is there cannot
be used, as a key with a line break in it, or a file that others can read. `log-in`: a person must
log in again. `refused`: the token server refuses the settings. `unavailable`: a later try may go
well; all others need somebody to change something.
"""


class Failure(Struct, frozen=True):
    """Why a credential gives no headers. It holds no secret."""

    reason: Reason
    message: str
    """One sentence for the operator. It names the place, never the secret."""
    retry_after_s: float | None = None
    """When another try makes sense, in seconds from now, if that is known."""


class CredentialError(Exception):
    """A credential gives no headers. The text is that of `failure`, and may be logged."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def unless_failed(outcome: T | Failure) -> T:
    """The outcome itself.

    Raises:
        CredentialError: It is a failure. Each caller gets an exception of its own.
    """
    if isinstance(outcome, Failure):
        raise CredentialError(outcome)
    return outcome


@dataclass(frozen=True, slots=True)
class Granted:
    """What one attempt may send."""

    headers: Mapping[str, str] = field(repr=False)
    """Headers of the request, with the secret. The key is never in the URL."""
    version: str
    """Names this secret and holds nothing of it. A new secret has a new version."""


class Credential(Protocol):
    """Proves to a provider who asks. One object serves many calls of one event loop.

    A call asks for `headers` once per attempt, before it sends anything. If the answer is a 401
    before its first byte, the call tells `refused`, and tries again, once, if that returns true:

        granted = await credential.headers()
        ...                                          # 401
        if await credential.refused(granted.version):
            granted = await credential.headers()     # the second attempt is the last

    After the first byte of an answer there is no 401: a stream goes on with the headers of its
    beginning, also when the token expires in its middle. A call never asks again then.
    """

    async def headers(self) -> Granted:
        """Headers for the attempt that begins now.

        Raises:
            CredentialError: There are none. All that wait for one refresh get the same failure.
        """
        ...

    async def refused(self, version: str) -> bool:
        """Hear that the provider refused this version. True: other headers are to be had.

        Tasks that were refused with the same version cause one refresh at most.

        Raises:
            CredentialError: A refresh was tried, and failed.
        """
        ...
