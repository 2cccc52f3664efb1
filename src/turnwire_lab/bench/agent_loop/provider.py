"""A model's server in this process, whose chunks of text tell when they were written."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Final, Self

from msgspec import Struct

from turnwire_lab.bench.agent_loop.stamps import stamp
from turnwire_lab.bench.model_calls.answers import CHAT, Plan, writes
from turnwire_lab.process import HOST

TOOL: Final = "pay"
"""What an answer calls that is to wait for a person."""

_BEGIN, _DELTA, *_END = writes(CHAT, Plan(chunks=1, together=1))
_BEFORE, _WORD, _AFTER = _DELTA.partition(b"**")
_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)


class Answer(Struct, frozen=True, kw_only=True):
    """What the server answers, each time that it is asked."""

    chunks: int = 1
    """Besides the first, which comes at once."""
    together: int = 1
    """Chunks of one write."""
    gap_s: float = 0.0
    """Between two writes."""
    held: bool = False
    """What comes after the first chunk waits for `go`, and the end for `end`."""
    calls: bool = False
    """It calls `TOOL` instead."""


class Provider:
    """`async with Provider(port) as provider:` listens meanwhile."""

    def __init__(self, port: int, answer: Answer) -> None:
        self._port = port
        self._answer = answer
        self.go = asyncio.Event()
        self.end = asyncio.Event()
        self._server: asyncio.Server
        self._asked = 0
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, HOST, self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.go.set()
        self.end.set()
        self._server.close()
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(_length(head))
                self._asked += 1
                writer.write(_HEAD)
                if self._answer.calls:
                    writer.write(_chunked(_CALL))
                else:
                    await self._stream(writer)
                    writer.write(_chunked(b"".join(_END)))
                writer.write(b"0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        answer, number = self._answer, self._asked
        writer.write(_chunked(_BEGIN + _event()))
        if answer.held:
            await self.go.wait()
        loop = asyncio.get_running_loop()
        # Streams do not write at the same moment.
        due = loop.time() + answer.gap_s * (number * 0.618 % 1)
        for _ in range(answer.chunks // answer.together):
            if answer.gap_s:
                await asyncio.sleep(due - loop.time())
                due += answer.gap_s
            writer.write(_chunked(_event() * answer.together))
            if not answer.gap_s:
                await writer.drain()
        if answer.held:
            await self.end.wait()


def _event() -> bytes:
    return _BEFORE + stamp() + _AFTER


def _chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


def _call() -> Iterator[bytes]:
    function = {"name": TOOL, "arguments": '{"amount": 1}'}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    deltas: tuple[tuple[dict[str, Any], str | None], ...] = (
        ({"role": "assistant", "tool_calls": [call]}, None),
        ({}, "tool_calls"),
    )
    for delta, reason in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield b"data: %b\n\n" % json.dumps({"id": "c", "model": "m", "choices": [choice]}).encode()
    yield b"data: [DONE]\n\n"


_CALL: Final = b"".join(_call())
