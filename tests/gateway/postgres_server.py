"""A Postgres on loopback, to be killed, stopped and restarted: Debian's, as the user `postgres`."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from gateway.needed import lacking
from gateway.waiting import PATIENCE_S
from turnwire_lab.process import free_port

INSTALLED: Final = Path("/usr/lib/postgresql")
USER: Final = "postgres"


def server_program(name: str) -> str:
    """The path of a program of the newest Postgres that is installed."""
    versions = sorted(INSTALLED.glob("*/bin"), key=lambda path: int(path.parent.name))
    if not versions:
        lacking("postgresql is not installed (`make system` installs apt-packages.txt)")
    return str(versions[-1] / name)


GUARD: Final = 'read -r _; kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"; rm -rf "$1"'
"""Ends the server when the tests end, however they end: then what it reads is closed."""


class PostgresServer:
    """`with PostgresServer() as postgres:` listens on `postgres.port` until it is harmed.

    What is committed survives all that a test does to it, though it does not wait for the disk.
    """

    def __init__(self) -> None:
        self.port = free_port()
        # Postgres does not run as root.
        self._user = USER if os.geteuid() == 0 else None
        self._paused: Sequence[int] = ()

    def url(self) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"

    def empty(self) -> str:
        """Drop all tables, and return the URL: much less work than a new database."""
        self.ask("drop schema public cascade; create schema public")
        return self.url()

    def ask(self, statement: str) -> str:
        """What `psql` prints for a statement of whoever operates it."""
        return subprocess.run(
            [server_program("psql"), "-X", "-A", "-t", "-q", "-c", statement, self.url()],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    def start(self) -> None:
        """Start it, or start it again on the same data and port."""
        with (self._folder / "log").open("ab") as output:
            self._process = subprocess.Popen(
                [
                    *(server_program("postgres"), "-D", str(self._folder / "data")),
                    *("-p", str(self.port), "-c", "listen_addresses=127.0.0.1"),
                    *("-c", f"unix_socket_directories={self._folder}", "-c", "fsync=off"),
                    *("-c", "max_connections=60", "-c", "shared_buffers=16MB"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._folder,
                user=self._user,
                group=self._user,
            )
        until = time.monotonic() + PATIENCE_S
        while not self._answers():
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < until, self.log()
            time.sleep(0.02)

    def stop(self) -> None:
        """SIGINT: it closes all connections, and ends."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait(PATIENCE_S)

    def kill(self) -> None:
        """SIGQUIT: all of its processes end at once, as after a crash."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(PATIENCE_S)

    def pause(self) -> None:
        """SIGSTOP to all of its processes: connections stay open, and nothing answers."""
        self._paused = self._processes()
        for each in self._paused:
            os.kill(each, signal.SIGSTOP)

    def unpause(self) -> None:
        # Those that were stopped: the kernel may leave children out of its list now.
        for each in self._paused:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGCONT)

    def log(self) -> str:
        return (self._folder / "log").read_text()

    def __enter__(self) -> Self:
        initdb = server_program("initdb")
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._guard = subprocess.Popen(
            ["sh", "-c", GUARD, "sh", str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if self._user:
            shutil.chown(self._folder, self._user, self._user)
        # A locale whose order of words is not that of code points.
        subprocess.run(
            [
                *(
                    initdb,
                    "-D",
                    str(self._folder / "data"),
                    "-U",
                    USER,
                    "-A",
                    "trust",
                    "-E",
                    "UTF8",
                ),
                *("--no-sync", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=self._folder,
            check=True,
            user=self._user,
            group=self._user,
        )
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._process.poll() is None:
            self.unpause()
            self.kill()
        self._guard.communicate()

    def _processes(self) -> Sequence[int]:
        """Its main process, and those it started."""
        own = self._process.pid
        children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
        return [own, *map(int, children)]

    def _answers(self) -> bool:
        ready = subprocess.run(
            [server_program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)],
            check=False,
        )
        return ready.returncode == 0
