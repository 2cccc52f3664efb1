"""How much memory a process may take with its default settings, for the page on scale."""

from typing import Final

from msgspec import Struct

from turnwire.config.settings import Settings

MIB: Final = 1_048_576

BASE_BYTES: Final = 80 * MIB
"""A process without streams: 62 MiB were measured."""

STREAM_BYTES: Final = 37 * 1024
"""An open stream that waits, its two sockets included (docs/load.md)."""

HELD_TIMES: Final = 1.25
"""Memory for each byte that is counted: 1.02 to 1.09 were measured."""

AT_WORK_TIMES: Final = 4
"""Copies of the one frame or body that is being worked on, at its largest."""

SHARE: Final = 0.8
"""Of a limit: the rest is for TLS towards agents, and for the unforeseen."""


class Line(Struct, frozen=True):
    """One summand."""

    what: str
    bytes: int


def lines(settings: Settings) -> list[Line]:
    """What one process may take."""
    largest = max(settings.frame_bytes, settings.body_bytes)
    streams = settings.max_streams
    return [
        Line("a process without streams", BASE_BYTES),
        Line(
            f"{streams:,} streams (`TURNWIRE_MAX_STREAMS`) of {STREAM_BYTES // 1024} KiB",
            streams * STREAM_BYTES,
        ),
        Line(
            f"{HELD_TIMES} times `TURNWIRE_HELD_BYTES` ({settings.held_bytes // MIB} MiB)",
            round(settings.held_bytes * HELD_TIMES),
        ),
        Line(
            f"{AT_WORK_TIMES} times the largest frame or body ({largest // MIB} MiB): one is "
            "worked on at a time",
            AT_WORK_TIMES * largest,
        ),
    ]


def needed_bytes(settings: Settings) -> int:
    """All of it."""
    return sum(line.bytes for line in lines(settings))


def most_workers(limit_bytes: int, settings: Settings) -> int:
    """How many such processes fit a limit."""
    return int(limit_bytes * SHARE) // needed_bytes(settings)


def table(settings: Settings) -> str:
    """The sum, and what it means for the limits of deploy/."""
    rows = [f"| {line.what} | {_mib(line.bytes)} |" for line in lines(settings)]
    needed = needed_bytes(settings)
    return "\n".join(
        [
            "| What | Memory |",
            "| --- | ---: |",
            *rows,
            f"| **a process, at most** | **{_mib(needed)}** |",
            "",
            (
                f"That is {needed / (1024 * MIB):.0%} of the 1 GiB of a pod in "
                f"`deploy/kubernetes`, and {needed / (2048 * MIB):.0%} of the 2 GiB of systemd's "
                "unit and of Compose, which have room for "
                f"`--workers {most_workers(2048 * MIB, settings)}`."
            ),
        ]
    )


def _mib(count: int) -> str:
    return f"{round(count / MIB):,} MiB"
