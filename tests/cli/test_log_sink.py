"""The log where nobody reads it for a while: nobody waits, and what is kept comes in order."""

import asyncio
import json
import logging
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx
import pytest

from gateway.clients import new_client
from gateway.process import environ
from gateway.waiting import until
from turnwire.cli import log_sink
from turnwire.cli.log_sink import Sink
from turnwire.cli.logs import end_by_signal
from turnwire_lab.process import free_port

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


def whole(mouth: int) -> bytes:
    """All that comes until nobody can write any more."""
    data = b""
    while more := os.read(mouth, 4_096):
        data += more
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
        monkeypatch.setattr(log_sink, "KEPT_BYTES_MAX", 1_000)
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


async def test_without_a_thread_lines_are_lost_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    lost: list[int] = []
    with pipe() as (mouth, ear):
        log = Sink(ear, lost.append)
        log.write("z" * 65_536)  # a whole pipe
        log.write("never\n")
        log.write("nor this\n")
        assert lost == []
        read(mouth, 65_536)
        log.write("short\n")

        assert lost == [2]
        assert os.read(mouth, 100) == b"short\n"


def test_what_ends_amid_a_write_may_log_something(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def collected(thread: threading.Thread) -> None:
        thread.run = partial(with_a_word, thread.run)  # type: ignore[method-assign]
        log.write("starter\n")
        start(thread)

    def with_a_word(run: Callable[[], None]) -> None:
        log.write("bootstrap\n")
        run()

    monkeypatch.setattr(threading.Thread, "start", collected)
    with pipe() as (mouth, ear):
        log = Sink(ear, print)
        log.write("z" * 70_000)

        assert read(mouth, 70_018)[70_000:] == b"starter\nbootstrap\n"


def test_so_it_may_while_one_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def collected(descriptor: int, data: bytes) -> int:
        if data == b"outer\n":
            log.write("inner\n")
        return write(descriptor, data)

    with pipe() as (mouth, ear):
        log = Sink(ear, print)
        monkeypatch.setattr(os, "write", collected)
        writer = threading.Thread(target=log.write, args=("outer\n",), daemon=True)
        writer.start()
        writer.join(5)

        assert not writer.is_alive()
        assert read(mouth, 12) == b"inner\nouter\n"


def test_on_a_full_disk_lines_are_lost_and_counted() -> None:
    disk = os.open("/dev/full", os.O_WRONLY)
    try:
        log = Sink(disk, print)
        for _ in range(5):
            log.write(LINE)

        assert log._lost == 5
    finally:
        os.close(disk)


def test_a_word_of_loss_that_is_lost_is_said_again() -> None:
    disk = os.open("/dev/full", os.O_WRONLY)
    told: list[int] = []

    def lost(lines: int) -> None:
        told.append(lines)
        if len(told) == 1:
            os.dup2(disk, ear)
            log.write("lines were lost\n")
            os.dup2(spare, ear)

    with pipe() as (mouth, spare):
        ear = os.dup(disk)
        try:
            log = Sink(ear, lost)
            log._descriptor = ear  # as of another's file: the test changes what is behind it
            log.write(LINE)
            os.dup2(spare, ear)
            log.write("a\n")
            log.write("b\n")

            assert told == [1, 2]  # the line, and the one that told of it
            assert os.read(mouth, 100) == b"a\nb\n"
        finally:
            os.close(ear)
            os.close(disk)


def test_a_terminal_that_is_held_waits_for_nobody() -> None:
    mouth, ear = pty.openpty()
    try:
        tty.setraw(ear)
        log = Sink(ear, print)
        for _ in range(2_000):
            log.write(LINE)

        assert os.get_blocking(ear)  # it is others' too
        assert read(mouth, 200_000) == LINE.encode() * 2_000
    finally:
        os.close(mouth)
        os.close(ear)


async def test_a_socket_is_asked_whether_there_is_room() -> None:
    mouth, ear = socket.socketpair()
    with mouth, ear:
        log = Sink(ear.fileno(), print)
        log.write("first\n")
        assert mouth.recv(100) == b"first\n"
        for _ in range(10_000):
            log.write(LINE)

        assert read(mouth.fileno(), 1_000_000) == LINE.encode() * 10_000
        await until(lambda: not late())


def test_a_file_takes_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("ab") as file:
        log = Sink(file.fileno(), print)
        log.write("before\n")
        log.write("x" * 2_000_000 + "\n")
        assert not late()

    assert path.stat().st_size == 2_000_008


def test_a_process_that_ends_says_all_it_had_to_say() -> None:
    told = """
import structlog
from turnwire.cli.logs import configure_logs
configure_logs("json")
for number in range(800):
    structlog.get_logger("test").info("x" * 1_000, number=number)
"""
    mouth, ear = os.pipe()
    process = subprocess.Popen([sys.executable, "-c", told], stderr=ear)
    os.close(ear)
    try:
        log = whole(mouth)
    finally:
        process.kill()
        process.wait()
        os.close(mouth)

    assert [json.loads(line)["number"] for line in log.splitlines()] == list(range(800))


async def test_it_waits_for_the_word_of_what_was_lost_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_sink, "KEPT_BYTES_MAX", 40_960)
    with pipe() as (mouth, ear):
        log = Sink(ear, lambda lines: log.write(f"{lines} lost\n" + " " * 4_000 + "\n"))
        for number in range(40):
            log.write(f"{number:>4095}\n")
        draining = threading.Thread(target=log.drain, args=(30,), daemon=True)
        draining.start()
        read(mouth, 4_096 * 11)  # of 27: then all others are in the pipe, and that word has no room
        draining.join(0.3)

        assert draining.is_alive()
        assert read(mouth, 4_096 * 16 + 8).endswith(b"\n13 lost\n")
        await until(lambda: not draining.is_alive())
        assert not late()


def test_the_first_process_of_a_container_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def ignored(_: int) -> None:
        """As the kernel does where nobody handles it."""

    monkeypatch.setattr(logging, "shutdown", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(signal, "raise_signal", ignored)

    with pytest.raises(SystemExit) as ended:
        end_by_signal(signal.SIGTERM)
    assert ended.value.code is None


@pytest.mark.sockets
@pytest.mark.fault(
    "no process reads the gateway's log",
    "no stream waits; a megabyte is kept, the rest is dropped and counted; the gateway waits at "
    "most a second for the log when it ends",
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
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nhost: gateway\r\n\r\n")
        process.terminate()
        await reader.read()  # until the server lets go: from here on there is the log alone
        writer.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 0.3)
        log = await asyncio.to_thread(whole, mouth)
        assert await process.wait() == -signal.SIGTERM
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        os.close(mouth)

    told = [json.loads(line) for line in log.splitlines() if b'"refused"' in line]
    assert [line["session_id"] for line in told] == [f"s{number}" for number in range(400)]
