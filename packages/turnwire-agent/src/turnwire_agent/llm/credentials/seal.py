"""The port of encryption at rest."""

from typing import Protocol


class Seal(Protocol):
    """Encrypts what the token store writes. `fernet.FernetSeal` is one."""

    def encrypt(self, clear: bytes) -> bytes:
        """The bytes to write. They cannot be changed without notice."""
        ...

    def decrypt(self, sealed: bytes) -> bytes | None:
        """What was sealed. None: it was sealed with another key, or changed."""
        ...
