"""The bytes of a call, for an operator who looks at them. Secrets are blotted out."""

from collections.abc import Mapping
from typing import Protocol

from turnwire_agent.llm.call.blotting import Blotting, blotted_head, spellings


class Tap(Protocol):
    """Where the bytes go. It must not raise."""

    def sent(self, data: bytes) -> None:
        """Bytes of a request."""
        ...

    def received(self, data: bytes) -> None:
        """Bytes of a response: its head, or some of its body, unpacked and without chunk sizes."""
        ...


class Tapped:
    """One attempt on its way to a tap.

    Args:
        tap: None if nobody looks.
        headers: Of the credential: their values are the secrets.
    """

    def __init__(self, tap: Tap | None, headers: Mapping[str, str]) -> None:
        self._tap = tap
        self._names = tuple(headers)
        self._secrets = spellings(headers) if tap else frozenset()
        self._body = Blotting(self._secrets)

    def sent(self, head: bytes, body: bytes) -> None:
        if self._tap:
            self._tap.sent(self._whole(blotted_head(head, self._names)))
            self._tap.sent(self._whole(body))

    def answered(self, head: bytes) -> None:
        if self._tap:
            self._tap.received(self._whole(blotted_head(head, self._names)))

    def received(self, piece: bytes) -> None:
        if self._tap and (shown := self._body.feed(piece)):
            self._tap.received(shown)

    def end(self) -> None:
        """The body ended, or is not read further."""
        if self._tap and (shown := self._body.end()):
            self._tap.received(shown)

    def _whole(self, data: bytes) -> bytes:
        blotting = Blotting(self._secrets)
        return blotting.feed(data) + blotting.end()
