"""`turnwire-lab bench`: measure, print the table, and keep it where the pages take it from."""

import argparse
import datetime as dt
import importlib.util
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from turnwire_lab.bench import machine, report, rounds
from turnwire_lab.bench.effort import QUICK, Effort
from turnwire_lab.bench.goals import GOALS
from turnwire_lab.bench.growth.goals import GROWTH_GOALS
from turnwire_lab.bench.modes import GATEWAY_MODES, MODES, QUICK_MODES
from turnwire_lab.bench.run import Run, run_modes
from turnwire_lab.bench.tools import NotBuiltError, tools

NOT_APART = "One core for all: the rig took what it measured."


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--quick", action="store_true", help="a first look, in two minutes")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=tuple(MODES),
        default=(),
        metavar="MODE",
        help=f"of {', '.join(MODES)}; else all of the gateway's, {len(GATEWAY_MODES)}",
    )
    parser.add_argument("--rounds", type=int, help="of each load (5; quick: 3)")
    parser.add_argument("--seconds", type=float, help="of one round of a burst (0.8; quick: 0.3)")
    parser.add_argument(
        "--raw", type=Path, metavar="FOLDER", help="keep all rounds there, as JSONL"
    )
    parser.add_argument(
        "--publish", type=Path, metavar="FOLDER", help="put the table and the plots there"
    )


def from_options(asked: argparse.Namespace) -> int:
    return bench(
        quick=asked.quick,
        only=asked.only,
        rounds_wanted=asked.rounds,
        seconds=asked.seconds,
        raw=asked.raw,
        publish=asked.publish,
    )


def bench(
    *,
    quick: bool,
    only: Sequence[str],
    rounds_wanted: int | None,
    seconds: float | None,
    raw: Path | None,
    publish: Path | None,
    compiler: str | None = None,
) -> int:
    """Run it. 0: it ran to its end; 1: it could not, or nothing of it was measured."""
    if sys.platform != "linux":
        return _complain("it reads /proc, which only Linux has.")
    if publish is not None and importlib.util.find_spec("matplotlib") is None:
        return _complain("to publish, install the extra `bench` (`make bench` does).")
    effort = _effort(QUICK if quick else Effort(), rounds_wanted, seconds)
    machine.raise_descriptors()
    cores = machine.cores()
    os.sched_setaffinity(0, cores.rig)  # this process is part of the rig
    try:
        loaders = tools(compiler=compiler)
    except NotBuiltError as error:
        return _complain(str(error))
    names = only or (QUICK_MODES if quick else list(GATEWAY_MODES))
    with tempfile.TemporaryDirectory(prefix="turnwire-bench-") as folder:
        run = Run(loaders, effort, Path(folder), _tell, cores)
        run_modes(run, [(name, MODES[name]) for name in names], _tell)
    table = _table(run, cores)
    print(report.markdown(table))
    _keep(run, table, raw, publish)
    return 0 if any(each.void is None for each in run.rounds) else 1


def _effort(effort: Effort, rounds_wanted: int | None, seconds: float | None) -> Effort:
    if rounds_wanted is not None:
        effort = msgspec.structs.replace(effort, rounds=rounds_wanted)
    if seconds is not None:
        # A run that short is to see that all of it works.
        small = seconds < QUICK.seconds
        effort = msgspec.structs.replace(
            effort,
            seconds=seconds,
            minutes=0.0 if small else effort.minutes,
            most_streams=100 if small else effort.most_streams,
            streams_of_memory=100 if small else effort.streams_of_memory,
            requests_of_growth=100 if small else effort.requests_of_growth,
        )
    return effort


def _table(run: Run, cores: machine.Cores) -> report.Table:
    notes = [*report.noise(run.rounds, run.absent)]
    if not cores.are_apart:
        notes.insert(0, NOT_APART)
    return report.Table(
        machine=f"{machine.model()}, {os.cpu_count()} cores",
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        notes=notes,
        rows=report.rows(run.rounds, (*GOALS, *GROWTH_GOALS)),
    )


def _keep(run: Run, table: report.Table, raw: Path | None, publish: Path | None) -> None:
    if raw is not None:
        raw.mkdir(parents=True, exist_ok=True)
        rounds.write(raw / "rounds.jsonl", run.rounds)
        report.write(raw, table)
    if publish is not None:
        from turnwire_lab.bench.plots import draw  # noqa: PLC0415 (needs an extra)

        publish.mkdir(parents=True, exist_ok=True)
        pictures = draw(run.rounds, publish)
        report.write(publish, msgspec.structs.replace(table, pictures=pictures))


def _tell(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _complain(words: str) -> int:
    print(f"turnwire-lab bench: {words}", file=sys.stderr)
    return 1
