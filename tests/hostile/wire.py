"""WebSocket by hand, from the agent's side: what no library would write can be written."""

import base64
import hashlib
from typing import Final, NamedTuple

_GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT: Final = 1
CLOSE: Final = 8
PING: Final = 9
PONG: Final = 10


def accepted(head: bytes) -> bytes:
    """The answer to a handshake whose request head this is."""
    fields = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
    }
    digest = hashlib.sha1(fields[b"sec-websocket-key"] + _GUID, usedforsecurity=False).digest()
    lines = [
        b"HTTP/1.1 101 Switching Protocols",
        b"Upgrade: websocket",
        b"Connection: Upgrade",
        b"Sec-WebSocket-Accept: " + base64.b64encode(digest),
    ]
    if b"sec-websocket-protocol" in fields:
        lines.append(b"Sec-WebSocket-Protocol: valet")
    return b"\r\n".join([*lines, b"", b""])


class ReceivedFrame(NamedTuple):
    opcode: int
    payload: bytes


class FrameReader:
    """Reads the masked frames of a gateway, however they are cut."""

    def __init__(self) -> None:
        self._unread = b""

    def hear(self, data: bytes) -> list[ReceivedFrame]:
        """The frames that are whole now."""
        self._unread += data
        found = []
        while (frame := self._next()) is not None:
            found.append(frame)
        return found

    def _next(self) -> ReceivedFrame | None:
        data = self._unread
        if len(data) < 2:
            return None
        size, at = data[1] & 127, 2
        if size > 125:
            at += 2 if size == 126 else 8
            size = int.from_bytes(data[2:at], "big")
        if len(data) < at + 4 + size:
            return None
        mask, masked = data[at : at + 4], data[at + 4 : at + 4 + size]
        self._unread = data[at + 4 + size :]
        pattern = (mask * (size // 4 + 1))[:size]
        plain = int.from_bytes(masked, "big") ^ int.from_bytes(pattern, "big")
        return ReceivedFrame(data[0] & 15, plain.to_bytes(size, "big"))
