"""An agent that costs next to nothing, as a process of its own: `python -m load.agent`.

What a prompt says decides its turn:

    idle              the turn begins, and nothing more is said until SIGUSR1 ends them all
    pace 5 150        150 numbered deltas, 5 a second, each with the time it was told at
    anything else     three words, at once

Its first line of output is its port; at the end of its input it ends.
"""

import asyncio
import signal
import sys
import time
from typing import Final, cast

import msgspec
import uvloop
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from gateway import frames

WORDS: Final = ("Hello ", "from ", "here.")


class _Asked(msgspec.Struct, rename="camel"):
    type: str
    content: str = ""
    prompt_id: str = ""


_asked = msgspec.json.Decoder(_Asked).decode


class Line(asyncio.Protocol):
    """One socket of a gateway."""

    def __init__(self, idle: "set[Line]") -> None:
        self._idle = idle
        self._websocket = ServerProtocol()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, not a check: uvloop's transports are no subclasses of asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._websocket.receive_data(data)
        for event in self._websocket.events_received():
            if isinstance(event, Request):
                self._websocket.send_response(self._websocket.accept(event))
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                self._hear(_asked(bytes(event.data)))
        self._flush()

    def connection_lost(self, _exc: Exception | None) -> None:
        self._idle.discard(self)

    def end(self) -> None:
        self._say(frames.finalize(self._turn_id))

    def _hear(self, asked: _Asked) -> None:
        if asked.type != "prompt":
            return
        self._turn_id = f"turn-{asked.prompt_id}"
        self._say(frames.create(asked.prompt_id, self._turn_id))
        match asked.content.split():
            case ["idle"]:
                self._idle.add(self)
            case ["pace", rate, count]:
                every_s = 1 / float(rate)
                asyncio.get_running_loop().call_later(every_s, self._pace, 0, int(count), every_s)
            case _:
                for word in WORDS:
                    self._say(frames.delta(word, self._turn_id))
                self.end()

    def _pace(self, number: int, count: int, every_s: float) -> None:
        if self._transport.is_closing():
            return
        if number == count:
            self.end()
            return
        told = f"{number} {time.monotonic_ns()};"
        self._say(frames.delta(told, self._turn_id))
        asyncio.get_running_loop().call_later(every_s, self._pace, number + 1, count, every_s)

    def _say(self, frame: frames.Json) -> None:
        self._websocket.send_text(frames.text(frame).encode())
        self._flush()

    def _flush(self) -> None:
        for data in self._websocket.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._transport.close()


async def _main() -> None:
    loop = asyncio.get_running_loop()
    idle: set[Line] = set()

    def end_all() -> None:
        for line in list(idle):
            line.end()
        idle.clear()

    loop.add_signal_handler(signal.SIGUSR1, end_all)
    server = await loop.create_server(lambda: Line(idle), "127.0.0.1", 0, backlog=2048)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_main())
