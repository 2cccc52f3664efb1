"""The records of a stream, cut out of the pieces that a client gets."""

from collections.abc import Iterator
from typing import Final

KEEPALIVE: Final = b"keepalive"


class Records:
    """Takes pieces of an event stream, gives the data of each record that is whole."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, piece: bytes) -> Iterator[bytes]:
        """The `data` of each record; a comment is `keepalive`."""
        *whole, self._rest = (self._rest + piece).split(b"\n\n")
        for record in whole:
            lines = record.split(b"\n")
            data = [line.removeprefix(b"data: ") for line in lines if line.startswith(b"data: ")]
            if data:
                yield b"\n".join(data)
            elif record.startswith(b":"):
                yield KEEPALIVE
