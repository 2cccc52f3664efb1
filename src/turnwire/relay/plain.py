"""The short lane of the WebSocket: whole short text frames, cut straight out of a socket read.

The library's parser takes three generators, an enum and a dataclass for each
frame, and that was two thirds of all that a frame cost here. Nearly every frame of
an agent is of one kind: final, text, unmasked, of a length that two bytes can say.
Those are cut out here, for a twelfth of the parser's time. All that is anything else
goes to the library, with all that follows it in the read, and so does everything while
the library has something that is not whole: so each decision on what is sound
WebSocket stays the library's. tests/relay/test_plain.py holds the two lanes equal.
"""

from typing import Final

FINAL_TEXT: Final = 0x81
"""No extension bit set: none was negotiated."""
CLOSE: Final = 0x88
_TWO_BYTES: Final = 126
"""In place of a length: it is in the next two bytes."""
_EIGHT_BYTES: Final = 127
_TWO_BYTES_MAX: Final = 0xFFFF
_MASKED: Final = 0x80


def cut(data: bytes, longest: int) -> tuple[list[bytes], bytes, bool]:
    """Cut the plain frames off the beginning of `data`, up to one longer than `longest`.

    Returns their payloads, which are not yet known to be UTF-8; what follows them; and whether
    that is nothing, or the beginning of another such frame.
    """
    texts: list[bytes] = []
    at, end = 0, len(data)
    try:
        while data[at] == FINAL_TEXT:
            size = data[at + 1]
            start = at + 2
            if size == _TWO_BYTES:
                size = data[start] << 8 | data[start + 1]
                start += 2
            elif size > _TWO_BYTES:  # a longer length, or a mask
                break
            after = start + size
            if after >= end or size > longest:
                if after != end or size > longest:
                    return texts, data[at:], size <= longest
                texts.append(data[start:])
                return texts, b"", True
            texts.append(data[start:after])
            at = after
    except IndexError:  # a head that is not whole
        return texts, data[at:], True
    return texts, data[at:], False


def masked_head(kind: int, size: int) -> bytes:
    """What stands before the mask of a frame of ours: few kinds, and few lengths."""
    if size < _TWO_BYTES:
        return b"%c%c" % (kind, _MASKED | size)
    if size <= _TWO_BYTES_MAX:
        return b"%c%c%b" % (kind, _MASKED | _TWO_BYTES, size.to_bytes(2, "big"))
    return b"%c%c%b" % (kind, _MASKED | _EIGHT_BYTES, size.to_bytes(8, "big"))
