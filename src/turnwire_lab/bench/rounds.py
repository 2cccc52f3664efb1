"""A round: one load on one contender, and the figures that came of it."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from turnwire_lab.bench.farm import DISTURBED, Spent
from turnwire_lab.bench.load import Found, Quantiles

ROUNDS_A_START: Final = 5
"""After so many rounds the mode `turn-log` starts all contenders anew."""


class Round(Struct, frozen=True, kw_only=True):
    mode: str
    case: str
    """Which of the mode's loads."""
    contender: str
    number: int
    figures: Mapping[str, float] = {}
    latency_us: Quantiles | None = None
    foreign: float = 0.0
    void: str | None = None
    """Why its figures may not be used."""

    @property
    def disturbed(self) -> bool:
        return self.foreign >= DISTURBED


def of_load(found: Found, spent: Spent) -> Mapping[str, float]:
    """The figures of a load from its first byte to its last."""
    gateway_s = max(spent.gateway_s, 1e-9)
    figures = {
        "frames_per_core_s": found.deltas / gateway_s,
        "us_per_frame": gateway_s * 1e6 / max(found.deltas, 1),
        "turns_per_s": found.streams / found.wall_s,
        "us_per_turn": gateway_s * 1e6 / max(found.streams, 1),
        "gateway_share": gateway_s / spent.wall_s,
        "rig_share": spent.rig_s / spent.wall_s,
    }
    if found.first_byte_us:
        figures["first_byte_p50_ms"] = found.first_byte_us.p50 / 1e3
        figures["first_byte_p99_ms"] = found.first_byte_us.p99 / 1e3
    if found.first_delta_us:
        figures["first_delta_p99_ms"] = found.first_delta_us.p99 / 1e3
    return figures


def of_window(found: Found, spent: Spent) -> Mapping[str, float]:
    """The figures of turns that were open before and after."""
    if not spent.deltas:
        return {}
    calm = {"calm_p99_us": found.stretch_p99_us.p10} if found.stretch_p99_us else {}
    return calm | {
        "us_per_frame": spent.gateway_s * 1e6 / spent.deltas,
        "frames_per_s": spent.deltas / spent.wall_s,
        "gateway_share": spent.gateway_s / spent.wall_s,
        "rig_share": spent.rig_s / spent.wall_s,
    }


class Rounds:
    """All rounds of a run, in their order."""

    def __init__(self, rounds: Iterable[Round] = ()) -> None:
        self._rounds = list(rounds)

    def __iter__(self) -> Iterator[Round]:
        return iter(self._rounds)

    def __len__(self) -> int:
        return len(self._rounds)

    def add(self, each: Round) -> None:
        self._rounds.append(each)

    def cases(self, mode: str) -> Sequence[str]:
        return list(dict.fromkeys(each.case for each in self if each.mode == mode))

    def contenders(self, mode: str) -> Sequence[str]:
        return list(dict.fromkeys(each.contender for each in self if each.mode == mode))

    def of(self, mode: str, case: str, contender: str) -> Sequence[Round]:
        """Those that may be used."""
        return [
            each
            for each in self
            if (each.mode, each.case, each.contender) == (mode, case, contender)
            and each.void is None
        ]

    def values(self, mode: str, case: str, contender: str, figure: str) -> Mapping[int, float]:
        """A figure by the round's number; what could not be reckoned is left out."""
        return {
            each.number: each.figures[figure]
            for each in self.of(mode, case, contender)
            if figure in each.figures and math.isfinite(each.figures[figure])
        }


def write(path: Path, rounds: Rounds) -> None:
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in rounds))


def read(path: Path) -> Rounds:
    decode = msgspec.json.Decoder(Round).decode
    return Rounds(decode(line) for line in path.read_bytes().splitlines())
