"""What a load is, how it is asked for, and what the client found."""

from typing import Final

import msgspec
from msgspec import Struct


class Plan(Struct, frozen=True, kw_only=True):
    """One turn. It is the text of the prompt, so that it goes through every gateway."""

    deltas: int
    size: int = 20
    """Bytes of a delta; 20 at least, for the time and the number that a delta carries."""
    rate: float = 0
    """Deltas a second; 0 is as fast as they go."""
    batch: int = 32
    """Deltas of one write where they go as fast as they go."""
    spellings: int = 1
    """How many frames carry each delta: one, or two that repeat each other."""
    tools: int = 0
    output: int = 0
    """Bytes of the output of each tool; 0: a few."""
    noise: int = 0
    """Bytes beside each delta that no client is shown, on a wire that has such."""
    hold: bool = False
    """Wait behind the first delta until `POST /go` comes to the agent."""

    def with_noise(self, noise: int) -> "Plan":
        """The same plan with so many bytes beside each delta."""
        return msgspec.structs.replace(self, noise=noise)

    @property
    def words(self) -> str:
        words = f"n={self.deltas} s={self.size} r={self.rate:g} b={self.batch}"
        words = f"{words} spellings={self.spellings} tools={self.tools} noise={self.noise}"
        return f"{words} output={self.output} hold={self.hold:d}"


STEADY: Final = "clients, begun one after another"
"""The name of such a load, behind their count."""
MARK = "bench "
"""Stands before the words in a prompt."""


class Load(Struct, frozen=True, kw_only=True):
    """Streams to open: `streams` at once, each with the same plan, until there were `total`."""

    plan: Plan
    streams: int = 1
    total: int = 0
    """0: as many as at once."""
    ramp_us: int = 0
    """Between two openings."""
    nap_us: int = 0
    """After each read, for a client that is slow."""
    read_bytes: int = 262_144
    patience_s: float = 60

    def with_deltas(self, deltas: int) -> "Load":
        """The same load of longer or shorter turns."""
        plan = msgspec.structs.replace(self.plan, deltas=deltas)
        return msgspec.structs.replace(self, plan=plan)

    def arguments(self, port: int, path: str, *, frames: bool) -> list[str]:
        """The command line of a client."""
        total = self.total or self.streams
        options = {
            "-p": port,
            "-P": path,
            "-m": self.plan.words,
            "-c": self.streams,
            "-t": total,
            "-R": self.ramp_us,
            "-T": self.patience_s,
            "-q": self.nap_us,
            "-B": self.read_bytes,
        }
        arguments = [str(word) for pair in options.items() for word in pair]
        return [*arguments, "-F"] if frames else arguments


class Quantiles(Struct, frozen=True):
    """In microseconds."""

    count: int
    p1: float
    p5: float
    p10: float
    p25: float
    p50: float
    p75: float
    p90: float
    p95: float
    p99: float
    p999: float
    most: float


class Found(Struct, frozen=True):
    """What a client prints."""

    wall_s: float
    streams: int
    wrong: int
    failed: int
    refused: int
    missing: int
    deltas: int
    bytes: int
    reads: int
    cpu_s: float
    first_byte_us: Quantiles | None = None
    first_delta_us: Quantiles | None = None
    latency_us: Quantiles | None = None
    stretch_p99_us: Quantiles | None = None
    """Of the 99th percentiles of the latency, one for each 500 deltas in a row."""

    @property
    def fault(self) -> str | None:
        """Why nothing of this may be used."""
        counts = {
            "wrong": self.wrong,
            "failed": self.failed,
            "refused": self.refused,
            "missing": self.missing,
        }
        problems = [f"{count} {name}" for name, count in counts.items() if count]
        return f"streams: {', '.join(problems)}" if problems else None


found = msgspec.json.Decoder(Found).decode
