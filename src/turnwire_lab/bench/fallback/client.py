"""The client in Python. Takes the arguments of `native/client.c` and prints the same line."""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any, Final

import httptools
import msgspec
import uvloop

from turnwire_lab.bench.fallback.checker import Checker
from turnwire_lab.bench.load import MARK, Found, Load, Plan, Quantiles, read_plan
from turnwire_lab.bench.programs import HOST

_OK: Final = 200
_POINTS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0)


class Counts:
    """Of all streams together. Times are in nanoseconds."""

    def __init__(self) -> None:
        self.over = self.wrong = self.failed = self.refused = 0
        self.deltas = self.bytes = self.reads = 0
        self.first_bytes: list[int] = []
        self.first_deltas: list[int] = []
        self.latencies: list[int] = []


class Stream:
    """One response, as `httptools` tells it."""

    def __init__(self, counts: Counts, plan: Plan, *, frames: bool) -> None:
        self.is_over = False
        self.status = 0
        self._counts = counts
        self._plan = plan
        self._checker = Checker(plan, self._hear, frames=frames)
        self._parser: Any = httptools.HttpResponseParser(self)
        self._asked = time.monotonic_ns()
        self._read = 0

    def feed(self, data: bytes) -> None:
        self._counts.reads += 1
        first = not self._read
        self._read = time.monotonic_ns()
        if first:
            self._counts.first_bytes.append(self._read - self._asked)
        self._parser.feed_data(data)

    def end(self) -> None:
        """Judge it."""
        counts = self._counts
        counts.over += 1
        if not self.is_over:
            counts.failed += 1
        elif self.status != _OK:
            counts.refused += 1
        elif (fault := self._checker.verdict()) is not None:
            counts.wrong += 1
            print(f"client: {fault}", file=sys.stderr)

    # What the parser tells.

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()

    def on_body(self, data: bytes) -> None:
        self._counts.bytes += len(data)
        if self.status == _OK:
            self._checker.feed(data)

    def on_message_complete(self) -> None:
        self.is_over = True

    def _hear(self, number: int, written: int) -> None:
        self._counts.deltas += 1
        if not number:
            self._counts.first_deltas.append(self._read - self._asked)
        if self._plan.rate > 0 and (number or not self._plan.hold):
            self._counts.latencies.append(max(0, self._read - written))


class Crowd:
    """So many connections at once, until there were so many streams."""

    def __init__(self, asked: argparse.Namespace, load: Load) -> None:
        self.counts = Counts()
        self._asked = asked
        self._load = load
        self._left = load.total

    async def run(self) -> Found:
        asyncio.get_running_loop().add_signal_handler(
            signal.SIGUSR1, lambda: print(self.counts.deltas, flush=True)
        )
        began = time.monotonic()
        connections = asyncio.gather(*(self._connection(n) for n in range(self._load.streams)))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._load.patience_s):
                await connections
        return self._found(time.monotonic() - began)

    async def _connection(self, number: int) -> None:
        await asyncio.sleep(number * self._load.ramp_us / 1e6)
        while self._left > 0:
            self._left -= 1
            stream = Stream(self.counts, self._load.plan, frames=self._asked.frames)
            with contextlib.suppress(OSError):
                await self._stream(stream, number)
            stream.end()

    async def _stream(self, stream: Stream, number: int) -> None:
        reader, writer = await asyncio.open_connection(HOST, self._asked.port)
        try:
            writer.write(_request(self._asked, number))
            while not stream.is_over and (data := await reader.read(self._load.read_bytes)):
                stream.feed(data)
                if self._load.nap_us:
                    await asyncio.sleep(self._load.nap_us / 1e6)
        finally:
            writer.close()

    def _found(self, wall_s: float) -> Found:
        counts = self.counts
        return Found(
            wall_s=wall_s,
            streams=counts.over,
            wrong=counts.wrong,
            failed=counts.failed,
            refused=counts.refused,
            missing=self._load.total - counts.over,
            deltas=counts.deltas,
            bytes=counts.bytes,
            reads=counts.reads,
            cpu_s=time.process_time(),
            first_byte_us=_quantiles(counts.first_bytes),
            first_delta_us=_quantiles(counts.first_deltas),
            latency_us=_quantiles(counts.latencies),
        )


def _request(asked: argparse.Namespace, number: int) -> bytes:
    part = {"type": "text", "text": f"{MARK}{asked.plan}"}
    message = {"id": "m1", "role": "user", "parts": [part]}
    body = msgspec.json.encode({"id": "bench", "trigger": "submit-message", "messages": [message]})
    path = asked.path.replace("%d", str(number))
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {HOST}:{asked.port}\r\n"
        f"Authorization: Bearer {os.environ.get('BENCH_TOKEN', 'none')}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _quantiles(samples: list[int]) -> Quantiles | None:
    if not samples:
        return None
    samples.sort()
    count = len(samples)
    return Quantiles(
        count, *(samples[min(count - 1, int(count * point))] / 1e3 for point in _POINTS)
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Put the load on, and print what was found."""
    parser = argparse.ArgumentParser(prog="client")
    parser.add_argument("-p", dest="port", type=int, required=True)
    parser.add_argument("-P", dest="path", default="/api/sessions/bench-%d/chat")
    parser.add_argument("-m", dest="plan", required=True)
    for name, dest, default in (
        ("-c", "streams", 1), ("-t", "total", 1), ("-R", "ramp_us", 0),
        ("-q", "nap_us", 0), ("-B", "read_bytes", 262_144),
    ):  # fmt: skip
        parser.add_argument(name, dest=dest, type=int, default=default)
    parser.add_argument("-T", dest="patience_s", type=float, default=60)
    parser.add_argument("-F", dest="frames", action="store_true")
    asked = parser.parse_args(argv)
    plan = read_plan(MARK + asked.plan)
    assert plan is not None
    load = Load(
        plan=plan,
        streams=asked.streams,
        total=asked.total,
        ramp_us=asked.ramp_us,
        nap_us=asked.nap_us,
        read_bytes=asked.read_bytes,
        patience_s=asked.patience_s,
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(msgspec.json.encode(runner.run(Crowd(asked, load).run())).decode(), flush=True)


if __name__ == "__main__":
    main()
