"""The log where nobody reads it for a while: nobody waits, and what is kept comes in order."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from gateway.clients import new_client
from gateway.process import environ, free_port
from gateway.waiting import until
from turnwire.cli import sink
from turnwire.cli.sink import Sink

LINE = "x" * 99 + "\n"


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    mouth, ear = os.pipe()
    try:
        yield mouth, ear
    finally:
        os.close(mouth)
        os.close(ear)


def late() -> bool:
    return any(thread.name == "late-log" for thread in threading.enumerate())


def read(mouth: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += os.read(mouth, size - len(data))
    return data


async def test_lines_that_fit_are_written_at_once() -> None:
    with pipe() as (mouth, ear):
        Sink(ear, print).write("één\n")

        assert os.read(mouth, 100) == "één\n".encode()
        assert not late()


async def test_lines_that_do_not_fit_come_later_and_in_order() -> None:
    with pipe() as (mouth, ear):
        log = Sink(ear, print)
        lines = [f"{number:>99}\n" for number in range(2_000)]
        for line in lines:
            log.write(line)

        assert read(mouth, 200_000) == "".join(lines).encode()
        await until(lambda: not late())


async def test_a_long_one_keeps_its_place() -> None:
    with pipe() as (mouth, ear):
        log = Sink(ear, print)
        told = ["a\n", "b" * 300_000 + "\n", "c\n"]
        for text in told:
            log.write(text)

        assert read(mouth, 300_005) == "".join(told).encode()


async def test_what_is_more_than_is_kept_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[int] = []
    with pipe() as (mouth, ear):
        log = Sink(ear, lost.append)
        log.write("y" * 70_000)  # of which the thread has in its hands what does not fit
        await until(lambda: not log._kept)
        monkeypatch.setattr(sink, "KEPT_BYTES_MAX", 1_000)
        for _ in range(15):
            log.write(LINE)

        assert read(mouth, 70_000 + 1_000) == b"y" * 70_000 + LINE.encode() * 10
        await until(lambda: lost == [5])
        log.write("again\n")
        assert os.read(mouth, 100) == b"again\n"


async def test_where_nobody_can_read_any_more_it_is_quiet() -> None:
    mouth, ear = os.pipe()
    os.close(mouth)
    try:
        log = Sink(ear, print)
        log.write(LINE)
        log.write(LINE * 1_000)
        await until(lambda: not late())
    finally:
        os.close(ear)


async def test_a_descriptor_that_others_made_not_wait() -> None:
    with pipe() as (mouth, ear):
        os.set_blocking(ear, False)
        log = Sink(ear, print)
        for _ in range(2_000):
            log.write(LINE)

        assert read(mouth, 200_000) == LINE.encode() * 2_000


async def test_without_a_thread_lines_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    with pipe() as (mouth, ear):
        log = Sink(ear, print)
        log.write("z" * 5_000)
        log.write("short\n")

        assert os.read(mouth, 100) == b"short\n"


@pytest.mark.sockets
@pytest.mark.fault(
    "nobody reads the gateway's log any more",
    "no stream waits; a megabyte is kept, the rest is lost and counted",
)
async def test_a_log_that_nobody_reads_stops_no_stream() -> None:
    mouth, ear = os.pipe()
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire", "serve"),
        env=environ(port=port, log_format="json"),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=ear,
    )
    os.close(ear)
    url = f"http://127.0.0.1:{port}"
    try:
        async with new_client() as client:

            async def listens() -> bool:
                try:
                    return (await client.get(f"{url}/healthz")).status_code == 200
                except httpx.TransportError:
                    return False

            for _ in range(600):
                if await listens():
                    break
                await asyncio.sleep(0.05)
            for number in range(400):  # far more than a pipe takes
                answer = await client.post(f"{url}/api/sessions/s{number}/chat")
                assert answer.status_code == 401
        log = b""
        while log.count(b'"refused"') < 400:
            log += await asyncio.to_thread(os.read, mouth, 65_536)
    finally:
        process.terminate()
        await process.wait()
        os.close(mouth)

    told = [json.loads(line) for line in log.splitlines() if b'"refused"' in line]
    assert [line["session_id"] for line in told] == [f"s{number}" for number in range(400)]
