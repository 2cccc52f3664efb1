"""What was measured in a row, and what is made of it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from hostile.attack import MIB, AgentAttack, Attack


class Measured(Struct, frozen=True, kw_only=True):
    """Of one row. Times are in milliseconds unless they say otherwise."""

    who: str
    name: str
    wire: str
    p99: float
    most: float
    """Of the latency of a delta of the well-behaved."""
    streams: int
    not_whole: int
    """Of the streams of the well-behaved."""
    first_byte: float
    """The latest of the new requests, but for one in twenty."""
    first_byte_most: float
    refused: int
    """Of the new requests."""
    growth_mib: float
    """Of the gateway's memory, at its peak."""
    ended_s: float | None
    """How long the longest stream of the hostile agent lasted; None: no agent was asked."""
    ends_within_s: float | None
    written_mib: float
    """By the hostile agent."""
    read_mib: float
    """By the hostile client, or a hostile agent's."""
    statuses: Mapping[str, int]
    """How often each was the answer to the hostile client, or to a hostile agent's."""
    gateway_cores: float
    """What the gateway used."""
    waited_cores: float
    """What it would have used besides, had others on this machine not been before it."""


class Limits(Struct, frozen=True, kw_only=True):
    """What the well-behaved may notice."""

    added_p99: float = 50.0
    first_byte: float = 100.0
    growth_mib: float = 64.0


def broken(row: Measured, quiet: Measured | None, limits: Limits) -> Sequence[str]:
    """What was promised and is not so, beside a row without an attack; None: beside nothing."""
    found = []
    if row.not_whole:
        found.append(f"{row.not_whole} of {row.streams} streams are not whole")
    if row.refused:
        found.append(f"{row.refused} new requests were refused")
    if row.p99 - (quiet.p99 if quiet else 0) > limits.added_p99:
        found.append("late deltas")
    if row.first_byte > limits.first_byte:
        found.append("late answers")
    if row.growth_mib > limits.growth_mib:
        found.append("memory")
    if row.ends_within_s is not None:
        if row.ended_s is None:
            found.append("it never began")
        elif row.ended_s > row.ends_within_s:
            found.append("it lasts")
    return found


def quiet_of(rows: Sequence[Measured]) -> Mapping[str, Measured]:
    """The rows without an attack, one for each wire: the one in the middle, of its latencies."""
    found: dict[str, list[Measured]] = {}
    for row in rows:
        if row.who == "nobody":
            found.setdefault(row.wire, []).append(row)
    return {wire: sorted(all_, key=_p99)[len(all_) // 2] for wire, all_ in found.items()}


def _p99(row: Measured) -> float:
    return row.p99


def percentile(values: Sequence[float], part: float) -> float:
    """0 where there are none."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else 0.0


def mib(count: float) -> float:
    return count / MIB


def who(attack: Attack | None) -> str:
    if attack is None:
        return "nobody"
    return "agent" if isinstance(attack, AgentAttack) else "client"


def line(row: Measured, quiet: Measured, limits: Limits) -> str:
    """A row for a person who watches."""
    verdict = ", ".join(broken(row, quiet, limits))
    lasted = "" if row.ended_s is None else f"{row.ended_s:.1f} s"
    answers = " ".join(f"{status}:{count}" for status, count in sorted(row.statuses.items()))
    return (
        f"{row.who:7}{row.wire:14}{row.name:60.60} {row.p99:8.1f} {row.most:8.1f}"
        f" {row.not_whole:4} {row.first_byte:8.1f} {row.first_byte_most:8.1f} {row.refused:3}"
        f" {row.growth_mib:7.1f} {lasted:>7} {row.written_mib:7.1f} {row.read_mib:6.1f}"
        f" {row.gateway_cores:5.2f} {row.waited_cores:5.2f}  {answers:>8}  {verdict or 'ok'}"
    )


HEAD = (
    f"{'who':7}{'wire':14}{'attack':60} {'p99 ms':>8} {'most':>8} {'cut':>4} {'answer':>8}"
    f" {'most':>8} {'no':>3} {'MiB':>7} {'lasted':>7} {'written':>7} {'read':>6} {'cpu':>5}"
    f" {'wait':>5}  {'status':>8}"
)
