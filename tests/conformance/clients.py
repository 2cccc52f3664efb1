"""Plays jobs to the released clients under `tests/clients`, and reads what they report."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from turnwire.testing.strict_json import read_json

FOLDER: Final = Path(__file__).parent.parent / "clients"
CLIENTS: Final = sorted(
    (path.name for path in FOLDER.glob("v[0-9]*.*.*") if path.is_dir()),
    key=lambda name: [int(number) for number in name[1:].split(".")],
)
FRAMEWORKS: Final = sorted(
    path.name for name in ("svelte", "vue") for path in FOLDER.glob(f"{name}-*") if path.is_dir()
)
# Less than pytest's limit for a test that starts the clients; Node's own limit is shorter still.
RUN_S: Final = 150
AT_ONCE: Final = 8
REASON: Final = re.compile(r"^(\w*Error|node:).*", re.MULTILINE)
"""Where Node says why it ended, in what it printed."""

Job: TypeAlias = dict[str, Any]


class Message(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    role: str
    parts: list[dict[str, Any]]
    metadata: Any = None


class Played(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One job as its client's user saw it; the fields are explained in `turn.mjs`."""

    name: str
    messages: list[Message]
    status: str
    error: str | None
    posts: int
    timed_out: bool
    data: list[dict[str, Any]]
    finishes: list[dict[str, Any]]
    errors: list[str]
    statuses: list[str]
    responses: list[int]
    earlier: list[list[Message]]
    receipts: list[dict[str, Any]]
    checked: list[list[str]]

    @property
    def answers(self) -> list[Message]:
        return [message for message in self.messages if message.role == "assistant"]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    client: dict[str, str]  # package -> the version that ran
    unhandled: list[str]
    late: bool
    jobs: list[Played]

    def job(self, name: str) -> Played:
        return next(job for job in self.jobs if job.name == name)


# For `convert`: a `Struct` that two threads read for the first time at once ends the process.
msgspec.json.Decoder(Report)

Reports: TypeAlias = dict[str, Future[Report]]


class NoClientsError(Exception):
    """Node or a client is missing. A failure, never a skip: nothing would be tested."""


def version(client: str) -> tuple[int, ...]:
    return tuple(int(number) for number in client.removeprefix("v").split("."))


def node() -> str:
    found = shutil.which("node")
    if found is None:
        raise NoClientsError("there is no `node` on the path; install Node 20, then `make node`")
    return found


def play(
    client: str, jobs: list[Job], *, limit_s: float = RUN_S - 30, at_once: int = AT_ONCE
) -> Report:
    """Play the jobs to one client, in one Node process.

    Raises:
        NoClientsError: Node or the client is not installed.
    """
    if not (FOLDER / client / "node_modules" / ".stamp").exists():
        raise NoClientsError(f"client {client} is not installed; run `make node`")
    asked = {"limitMs": limit_s * 1000, "atOnce": at_once, "jobs": jobs}
    return msgspec.convert(report_of("run.mjs", client, asked, timeout_s=limit_s + 30), Report)


def report_of(script: str, client: str, asked: dict[str, Any], *, timeout_s: float) -> Any:
    """What a script of `tests/clients` reports of one client, in one Node process.

    Raises:
        NoClientsError: Node is not installed.
        AssertionError: the script failed; the first line has the reason, the others all it printed.
    """
    ran = subprocess.run(
        [node(), str(FOLDER / script), client],
        input=json.dumps(asked).encode(),
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
    printed = ran.stderr.decode()
    reason = REASON.search(printed)
    assert ran.returncode == 0, (
        f"{client} exited with {ran.returncode}: {reason.group() if reason else ''}\n{printed}"
    )
    return read_json(ran.stdout)


@contextmanager
def playing(jobs: list[Job]) -> Iterator[Reports]:
    """Every client at the jobs, one Node process each, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        yield {client: pool.submit(play, client, jobs) for client in CLIENTS}
        pool.shutdown(cancel_futures=True)
