"""WebSocket frames of text, as a server sends them (RFC 6455, 5.2)."""

import struct
from typing import Final

_WHOLE_TEXT: Final = 0x81
"""The first byte: the only frame of its message, of text."""
_ONE_BYTE_MAX: Final = 125
_TWO_BYTES_MAX: Final = 0xFFFF
_SHORT: Final = struct.Struct("!BB").pack
_MIDDLE: Final = struct.Struct("!BBH").pack
_LONG: Final = struct.Struct("!BBQ").pack


def text_frame(text: bytes) -> bytes:
    """Return a message of text, in UTF-8 already, as one frame without a mask."""
    length = len(text)
    if length <= _ONE_BYTE_MAX:
        return _SHORT(_WHOLE_TEXT, length) + text
    if length <= _TWO_BYTES_MAX:
        return _MIDDLE(_WHOLE_TEXT, 126, length) + text
    return _LONG(_WHOLE_TEXT, 127, length) + text
