"""Many clients in one process: `python -m load.crowd`, with a `Plan` as its one argument.

It opens the streams, checks every record of each, and tells two lines: `Opened`
when all are open, `Ended` when all are over. A frame's latency is from when the
agent told it to when it was read here, on the clock that both processes share;
the first ones, told while streams were still being opened, are left out.
"""

import asyncio
import sys
import time
from typing import cast

import msgspec
import uvloop

from gateway.clients import ask, request
from gateway.tokens import bearer


class Plan(msgspec.Struct, kw_only=True):
    port: int
    prompt: str
    streams: int
    at_once: int = 0
    """So many open at a time; 0: all of them."""
    rate: float = 0.0
    """New ones a second; 0: as fast as may be."""


class Ended(msgspec.Struct, kw_only=True):
    streams: int
    whole: int
    """That ended with `finish`, after all that was told, in order."""
    problems: list[str]
    """What the first ones that were not whole heard last."""
    deltas: int
    keepalives: tuple[int, int]
    """The fewest and the most in a stream."""
    latencies_ms: tuple[float, float, float]
    """Median, 99th percentile and maximum; zeros where no frame told its time."""


class _Chunk(msgspec.Struct):
    type: str
    delta: str = ""


_chunk = msgspec.json.Decoder(_Chunk).decode


class Crowd:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        body = msgspec.json.encode(ask(plan.prompt))
        self.request = request(body, headers=bearer())
        self.latencies_ns: list[int] = []
        self.is_measuring = False
        self.opened = 0
        self.all_open = asyncio.Event()
        self._places = asyncio.Semaphore(plan.at_once or plan.streams)

    async def run(self) -> Ended:
        loop = asyncio.get_running_loop()
        clients: list[Client] = []
        start = loop.time()
        for number in range(self.plan.streams):
            await self._places.acquire()
            if self.plan.rate:
                await asyncio.sleep(start + number / self.plan.rate - loop.time())
            _, client = await loop.create_connection(
                lambda: Client(self), "127.0.0.1", self.plan.port
            )
            clients.append(client)
        await self.all_open.wait()
        _tell("opened")
        self.is_measuring = True
        for client in clients:
            await client.over
        return self._ended(clients)

    def over(self, client: "Client") -> None:
        self._places.release()
        if not client.has_begun:  # it never will, and would be waited for
            self.begun()

    def begun(self) -> None:
        self.opened += 1
        if self.opened == self.plan.streams:
            self.all_open.set()

    def _ended(self, clients: "list[Client]") -> Ended:
        keepalives = [client.keepalives for client in clients]
        broken = [client for client in clients if not client.is_whole]
        found = sorted(self.latencies_ns) or [0]
        return Ended(
            streams=len(clients),
            whole=len(clients) - len(broken),
            problems=[repr(client.last) for client in broken[:5]],
            deltas=sum(client.deltas for client in clients),
            keepalives=(min(keepalives), max(keepalives)),
            latencies_ms=(
                found[len(found) // 2] / 1e6,
                found[len(found) * 99 // 100] / 1e6,
                found[-1] / 1e6,
            ),
        )


class Client(asyncio.Protocol):
    def __init__(self, crowd: Crowd) -> None:
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.has_begun = False
        self.keepalives = 0
        self.deltas = 0
        self.last = b""
        self._crowd = crowd
        self._unread = b""
        self._in_order = True
        self._finished = False
        self._done = False

    @property
    def is_whole(self) -> bool:
        return self._in_order and self._finished and self._done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, not a check: uvloop's transports are no subclasses of asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._crowd.request)

    def data_received(self, data: bytes) -> None:
        *records, self._unread = (self._unread + data).split(b"\n\n")
        for record in records:
            self._read(record)
        if self._unread.endswith(b"\r\n0\r\n\r\n"):  # the body's end
            self._done = self.last == b"[DONE]"
            self._transport.close()

    def connection_lost(self, _exc: Exception | None) -> None:
        self.last += self._unread[-200:]
        self._crowd.over(self)
        self.over.set_result(None)

    def _read(self, record: bytes) -> None:
        _, _, said = record.partition(b"data: ")
        if not said:
            self.keepalives += record.endswith(b": keepalive")
            return
        self.last = said
        if said == b"[DONE]":
            return
        chunk = _chunk(said)
        match chunk.type:
            case "start":
                self.has_begun = True
                self._crowd.begun()
            case "text-delta":
                self._delta(chunk.delta)
            case "finish":
                self._finished = True
            case "error" | "abort":
                self._in_order = False
            case _:
                pass

    def _delta(self, delta: str) -> None:
        if delta.endswith(";"):
            number, _, told_at = delta[:-1].partition(" ")
            self._in_order &= int(number) == self.deltas
            if self._crowd.is_measuring:
                self._crowd.latencies_ns.append(time.monotonic_ns() - int(told_at))
        self.deltas += 1


def _tell(what: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(what) + b"\n")
    sys.stdout.buffer.flush()


async def _main() -> None:
    _tell(await Crowd(msgspec.json.decode(sys.argv[1], type=Plan)).run())


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_main())
