"""The id of a thread, for wires on which the agent keeps a conversation by an id of the client."""

import functools
import hashlib

import msgspec


@functools.lru_cache(maxsize=1024)  # each turn of a chat asks for the same one
def thread_id(session_id: str, channel_type: str, channel_id: str) -> str:
    """Return the thread of a channel of a session: a hash in the form of a UUID.

    No client chooses it: a channel of another session has another id, whatever its name is. The
    form is that of version 5, since some agents take nothing but UUIDs.
    """
    names = (session_id, channel_type, channel_id)
    packed = msgspec.msgpack.encode([name.encode(errors="surrogatepass") for name in names])
    digest = bytearray(hashlib.sha256(b"turnwire thread 1" + packed).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
