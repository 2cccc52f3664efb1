"""The bytes of a body, unpacked and counted."""

import zlib
from typing import Final

from turnwire_agent.llm.call.failed_error import FailedError

PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32


class Unpacking:
    """Unpacks a body up to a bound, which is a bound of the packed bytes too.

    Args:
        encoding: The response's `Content-Encoding`. None was asked for; a server in between may
            pack all the same.
        most: Bytes, of all pieces together.

    Raises:
        FailedError: The encoding is unknown.
    """

    def __init__(self, encoding: str, most: int) -> None:
        encoding = encoding.strip().lower()
        if encoding not in {"", "identity"} | PACKED:
            raise FailedError("malformed", "The answer is packed in a way that is unknown.")
        self._inflater = zlib.decompressobj(_GZIP_OR_ZLIB) if encoding in PACKED else None
        self._left = most
        self._packed_left = most
        self.cut = False
        """There was more than the bound."""

    def feed(self, piece: bytes) -> bytes:
        """The next bytes of the body, unpacked; cut at the bound.

        Raises:
            FailedError: The body is not packed as its head says.
        """
        size = len(piece)
        if self._inflater is None:
            if size <= self._left:  # nearly every one
                self._left -= size
                return piece
            unpacked = piece
        else:
            unpacked = _inflated(self._inflater, piece, self._left + 1)
        self.cut = self.cut or len(unpacked) > self._left or size > self._packed_left
        unpacked = unpacked[: self._left]
        self._left -= len(unpacked)
        self._packed_left -= min(size, self._packed_left)
        return unpacked


def _inflated(inflater: "zlib._Decompress", piece: bytes, most: int) -> bytes:
    try:
        return inflater.decompress(piece, most)
    except zlib.error:
        failed = FailedError("malformed", "The answer is not packed as its head says.")
    raise failed
