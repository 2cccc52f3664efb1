"""Tries a release of `ai` that is not pinned: does it end any turn otherwise than the pinned one?

    PYTHONPATH=tests .venv/bin/python -m conformance.newer 7.0.180

It is installed into a temporary folder. Exits with 1 if anything differs.
"""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

from conformance.clients import CLIENTS, FOLDER, Job, Report, play, version
from conformance.frameworks import differences
from conformance.live import CONVERSATIONS, SETTINGS, converse, job, normalized
from conformance.transcripts import TRANSCRIPTS, read_at_once
from turnwire_lab.agents.v2.frames import Habits

Otherwise: TypeAlias = dict[str, list[str]]
"""Of each job that differs: how."""

REACT: Final = "@ai-sdk/react"
RELEASE: Final = re.compile(r"\d+\.\d+\.\d+")
INSTALL_S: Final = 300
LINE: Final = 400
"""Characters of a difference: the test that fails once the release is pinned has all of it."""


class NotInstalledError(Exception):
    """There is no such release, or npm failed."""


def pinned_beside(release: str) -> str:
    """Give the newest client of that major, or of all."""
    major = version(release)[0]
    return max([name for name in CLIENTS if version(name)[0] == major] or CLIENTS, key=version)


def install(release: str, folder: Path) -> Path:
    """Make a client of a release in the folder.

    Raises:
        NotInstalledError: npm cannot.
    """
    home = folder / f"v{release}"
    home.mkdir()
    pinned = FOLDER / pinned_beside(release)
    shutil.copy(pinned / "index.mjs", home)
    about = json.loads((pinned / "package.json").read_text())
    about["dependencies"] |= {"ai": release, REACT: _chat_of(release)}
    about["overrides"] = {"ai": "$ai"}  # one copy, also where the chat asks for another one
    (home / "package.json").write_text(json.dumps(about))
    _npm("install", "--ignore-scripts", "--no-package-lock", "--prefer-offline", cwd=home)
    (home / "node_modules" / ".stamp").touch()
    return home


def _chat_of(release: str) -> str:
    """Give the release of the chat that asks for this `ai`, or else the newest one of its major."""
    major = version(release)[0] - 3
    listed = json.loads(_npm("view", f"{REACT}@{major}", "version", "dependencies.ai", "--json"))
    asks: dict[str, str] = {one["version"]: one["dependencies.ai"] for one in listed}
    return max(asks, key=lambda chat: (asks[chat] == release, version(chat)))


def _npm(*args: str, cwd: Path | None = None) -> str:
    quiet = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
    ran = subprocess.run(
        ["npm", *args, *quiet],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=INSTALL_S,
        check=False,
    )
    if ran.returncode:
        raise NotInstalledError(f"npm {args[0]}: {ran.stderr.strip()}")
    return ran.stdout


def transcripts_otherwise(tried: Report, pinned: Report, client: str) -> Otherwise:
    """Compare what both made of the same streams."""
    return _otherwise(
        {one.name: differences(client, one, pinned.job(one.name)) for one in tried.jobs}
    )


def live_otherwise(tried: Report, pinned: Report, client: str) -> Otherwise:
    """Compare conversations; the ids that an agent makes up are numbered."""

    def seen(report: Report, name: str) -> dict[str, Any]:
        one = report.job(name)
        kept = ("status", "error", "errors", "posts", "timed_out")
        fields: dict[str, Any] = {field: getattr(one, field) for field in kept}
        return fields | {"messages": normalized(client, one.messages)}

    found: Otherwise = {}
    for name in CONVERSATIONS:
        has, needs = seen(tried, name), seen(pinned, name)
        found[name] = [f"{k}: {has[k]!r}, not {needs[k]!r}" for k in has if has[k] != needs[k]]
    return _otherwise(found)


def _otherwise(found: Otherwise) -> Otherwise:
    return {name: how for name, how in found.items() if how}


def summary(kind: str, count: int, otherwise: Mapping[str, Sequence[str]]) -> str:
    """Tell it to a person: a line for each difference."""
    lines = [f"{kind}: {count - len(otherwise)} of {count} end the same"]
    for name, how in otherwise.items():
        lines += [f"  {name}", *(f"    {line[:LINE]}" for line in how)]
    return "\n".join(lines)


def compare(tried: str, pinned: str, streams: Sequence[Job]) -> tuple[Otherwise, Otherwise, Report]:
    """Play everything to both clients: the streams, then conversations over a gateway."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda client: play(client, list(streams)), (tried, pinned))
    conversations = asyncio.run(
        converse(
            lambda client: [
                job(Path(client).name, name, *actions) for name, actions in CONVERSATIONS.items()
            ],
            Habits(pace_s=0.005),
            clients=[tried, pinned],
            settings={**SETTINGS, "TURNWIRE_LOG_LEVEL": "error"},
        )
    ).reports
    live = live_otherwise(conversations[tried], conversations[pinned], pinned)
    return transcripts_otherwise(first, second, pinned), live, first


def main(release: str) -> int:
    if not RELEASE.fullmatch(release):
        sys.stderr.write(f"{release!r} is no release of ai, as 7.0.180 is one\n")
        return 2
    pinned = pinned_beside(release)
    streams = [read_at_once(path) for path in TRANSCRIPTS]
    with TemporaryDirectory() as folder:
        try:
            tried = install(release, Path(folder))
        except NotInstalledError as error:
            sys.stderr.write(f"{error}\n")
            return 2
        transcripts, live, report = compare(str(tried), pinned, streams)
    sys.stdout.write(
        f"ai {report.client['ai']} with {REACT} {report.client[REACT]}, beside {pinned}\n"
        f"{summary('Transcripts', len(streams), transcripts)}\n"
        f"{summary('Conversations', len(CONVERSATIONS), live)}\n"
    )
    return int(bool(transcripts or live))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
