"""Between the SDK's chat and an app: the chats of other frameworks, and the fetch of a phone."""

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.clients import CLIENTS, FRAMEWORKS, Job, Played, Report, Reports, play
from conformance.transcripts import TRANSCRIPTS, read_at_once, title
from conformance.verdict import faults, shown
from turnwire.testing.client_model import read

SEEN: Final = ("status", "error", "errors", "data", "posts", "responses")
NONE: Final[Job] = {"framework": "none"}


class Pair(NamedTuple):
    """A client's job, and the one that it is compared with."""

    client: str
    own: Job
    plain: Job


EXPO: Final = (55, 57)
"""Its SDKs that differ in what an abort does."""
PAIRS: Final = {
    **{client: Pair(client, {}, NONE) for client in FRAMEWORKS},
    **{f"expo-{sdk}": Pair(CLIENTS[-1], {"expo": sdk}, {}) for sdk in EXPO},
}


def _each_type_once(paths: Iterable[Path]) -> list[Path]:
    """For each type of chunk, the shortest transcript that has it."""
    shortest: dict[str, Path] = {}
    for path in sorted(paths, key=lambda path: (path.stat().st_size, path)):
        for line in path.read_bytes().split(b"\n"):
            if line.startswith(b"data: {"):
                shortest.setdefault(json.loads(line.removeprefix(b"data: "))["type"], path)
    return sorted(set(shortest.values()))


HANDFUL: Final = _each_type_once(TRANSCRIPTS)


def jobs(pair: Pair, paths: Sequence[Path]) -> list[Job]:
    """Each transcript as it is, in both ways."""
    wholes = [read_at_once(path) for path in paths]
    plain = [job | pair.plain | {"name": f"{job['name']} plain"} for job in wholes]
    return [*(job | pair.own for job in wholes), *plain]


@contextmanager
def playing_pairs(paths: Sequence[Path], *more: Job) -> Iterator[Reports]:
    """All pairs at the transcripts and, in their own way, at more jobs; two processes at a time."""

    def work(pair: Pair) -> list[Job]:
        return [*jobs(pair, paths), *(job | pair.own for job in more)]

    with ThreadPoolExecutor(2) as pool:
        yield {name: pool.submit(play, pair.client, work(pair)) for name, pair in PAIRS.items()}
        pool.shutdown(cancel_futures=True)


def wrong(name: str, report: Report, path: Path) -> list[str]:
    """Tell what is wrong with a transcript as a pair has it: by itself, or beside the plain one."""
    client = PAIRS[name].client
    own = report.job(f"{title(path)} whole")
    plain = report.job(f"{title(path)} whole plain")
    return [*faults(client, read(path.read_bytes()), own), *differences(client, own, plain)]


def differences(client: str, one: Played, other: Played) -> list[str]:
    """Tell how what users see of two jobs differs; the ids of their own messages are random."""

    def seen(played: Played) -> dict[str, Any]:
        messages = [(m.role, shown(client, m), m.metadata) for m in played.messages]
        return {field: getattr(played, field) for field in SEEN} | {"messages": messages}

    has, needs = seen(one), seen(other)
    return [f"{k}: {has[k]!r}, not {needs[k]!r}" for k in has if has[k] != needs[k]]
