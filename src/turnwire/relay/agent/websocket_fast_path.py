"""The fast path of the WebSocket: split a socket read into its complete short text frames.

The library's parser needs three generators, an enum and a dataclass for each frame: two thirds of
all that a frame cost in this process. Nearly every frame of an agent is *plain*: final, text,
unmasked, with a length of up to two bytes. `split_text_frames` splits those in a twelfth of the
parser's time. Every other frame, and the rest of the read after it, goes to the slow path
(`websocket_reader`), and so does all data while a message of the slow path is incomplete. The
library decides what is valid WebSocket.

`tests/relay/agent/test_websocket_fast_path.py` compares the fast path with it.
"""

from typing import Final

FINAL_TEXT: Final = 0x81
"""The first byte of a plain frame, without extension bits: no extension is negotiated."""
CLOSE: Final = 0x88
_TWO_BYTES: Final = 126
"""In the length field: the length is in the next two bytes."""
_EIGHT_BYTES: Final = 127
_TWO_BYTES_MAX: Final = 0xFFFF
_MASKED: Final = 0x80


def split_text_frames(data: bytes, max_bytes: int) -> tuple[list[bytes], bytes, bool]:
    """Split the plain frames off the start of `data`, up to one longer than `max_bytes`.

    Return their payloads (UTF-8 is not checked), the rest of the data, and whether the rest is
    empty or the start of another plain frame.
    """
    payloads: list[bytes] = []
    position, end = 0, len(data)
    try:
        while data[position] == FINAL_TEXT:
            size = data[position + 1]
            start = position + 2
            if size == _TWO_BYTES:
                size = data[start] << 8 | data[start + 1]
                start += 2
            elif size > _TWO_BYTES:  # a longer length, or a mask
                break
            following = start + size
            if following >= end or size > max_bytes:
                if following != end or size > max_bytes:
                    return payloads, data[position:], size <= max_bytes
                payloads.append(data[start:])
                return payloads, b"", True
            payloads.append(data[start:following])
            position = following
    except IndexError:  # an incomplete head
        return payloads, data[position:], True
    return payloads, data[position:], False


def masked_head(first_byte: int, size: int) -> bytes:
    """Return the head of a frame of ours, up to the mask."""
    if size < _TWO_BYTES:
        return b"%c%c" % (first_byte, _MASKED | size)
    if size <= _TWO_BYTES_MAX:
        return b"%c%c%b" % (first_byte, _MASKED | _TWO_BYTES, size.to_bytes(2, "big"))
    return b"%c%c%b" % (first_byte, _MASKED | _EIGHT_BYTES, size.to_bytes(8, "big"))
