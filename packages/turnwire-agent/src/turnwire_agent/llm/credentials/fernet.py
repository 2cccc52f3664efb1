"""Encryption of stored tokens with the package `cryptography`, which is the extra `sealed`.

Nothing else of the runtime imports this module. Who wants a seal does so:

    store = TokenStore(path, seal=await fernet_seal(KeyFile(Path("/run/secrets/seal"))))

A new key is made by `Fernet.generate_key()` of that package.
"""

from typing import Final

from turnwire_agent.llm.credentials.port import CredentialError, Failure
from turnwire_agent.llm.credentials.sources import KeySource

try:
    from cryptography.fernet import Fernet, InvalidToken
except ImportError:
    raise ImportError(
        "stored tokens are sealed with pip install 'turnwire-agent[sealed]'"
    ) from None


class FernetSeal:
    """AES and an HMAC, by the recipe of that package. The key is 32 bytes in base64."""

    def __init__(self, key: Fernet) -> None:
        self._key: Final = key

    def encrypt(self, clear: bytes) -> bytes:
        return self._key.encrypt(clear)

    def decrypt(self, sealed: bytes) -> bytes | None:
        try:
            return self._key.decrypt(sealed)
        except InvalidToken:
            return None


async def fernet_seal(source: KeySource) -> FernetSeal:
    """The seal whose key is in a file, in a variable, or printed by a command.

    Raises:
        CredentialError: There is no key, or it is none of Fernet's.
    """
    key = await source.read()
    try:
        fernet = Fernet(key.reveal())
    except ValueError:
        failure = Failure(
            "unusable", f"The key of {source!r} seals no tokens: it is not 32 bytes in base64."
        )
    else:
        return FernetSeal(fernet)
    raise CredentialError(failure)
