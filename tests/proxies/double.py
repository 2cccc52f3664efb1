"""A server that says it is a gateway, and takes a prompt."""

import asyncio

from gateway.listening import Listening

_READY = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


class Double(Listening):
    """`async with Double() as double:` answers a POST with an empty 200, or with nothing."""

    def __init__(self, *, answers: bool = True) -> None:
        self._answers = answers
        self.heads: list[dict[str, str]] = []
        """Of each POST, as it came."""

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
                first, *lines = head.strip().split("\r\n")
                if first.startswith("POST"):
                    fields = (line.partition(": ") for line in lines)
                    self.heads.append({name.lower(): value for name, _, value in fields})
                    if not self._answers:
                        break
                    await reader.readexactly(int(self.heads[-1]["content-length"]))
                writer.write(_READY)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
