"""Change the code at random places, one at a time, and see whether the tests notice.

    python -m mutation.run [FILE OR FOLDER...] [--mutants 500] [--seed 1] [--workers 2]

The files are below --source (src/turnwire); unless named, all of core/ and dialects/. The sample
is drawn from all changes that the operators can make there, and each has the same chance. So the
share that is noticed, with its interval, holds for all of them. Ctrl-C ends it early: what it has
asked by then is a smaller sample, and is reported. Exits with 1 if nothing can be said.

One change again, after a test was written for it:

    python -m mutation.run core/x.py --only "f: a < b" --all-of-them --tests tests/core/test_x.py
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

import pytest

from mutation.asking import Answer, Asking
from mutation.changes import Change, changes, sample
from mutation.contexts import contexts
from mutation.equivalent import LIST, equivalent
from mutation.options import OPTIONS
from mutation.score import in_words

ROOT: Final = Path(__file__).parents[2]
_FOLDERS: Final = ("core", "dialects")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    source = options.source.resolve()
    tests = [path.resolve() for path in options.tests]
    began = time.monotonic()
    every = [
        change
        for change in changes(_files(source, options.files or _FOLDERS), source)
        if options.only in change.name
    ]
    drawn = sample(every, options.mutants, options.seed)
    reasons = equivalent(options.equivalent)
    tried = [change for change in drawn if change.name not in reasons]
    if options.list:
        for change in drawn:
            say(_described(change))
        return 0
    asked: list[tuple[Change, list[str] | None]]
    seconds: dict[str, float] = {}
    if options.all_of_them:
        asked = [(change, None) for change in tried]
    else:
        kept = contexts(options.build, source, tests)
        seconds = kept.seconds
        asked = [(change, kept.tests(change.path, change.lines)) for change in tried]
    say(
        f"{len(drawn)} of {len(every)} changes, seed {options.seed};"
        f" {len(drawn) - len(tried)} of them nobody can notice ({options.equivalent.name})"
    )
    asking = Asking(source, asked, seconds, options.workers, options.patience, _tell)
    code = pytest.main([*OPTIONS, "-qq", *map(str, tests)], plugins=[asking])
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        return 1
    if asking.unsound is not None:
        say(f"{asking.unsound} fails without any change, too; nothing can be said.")
        return 1
    _report(asking, time.monotonic() - began)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mutation.run", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("files", nargs="*", help="below --source; core and dialects unless named")
    parser.add_argument("--mutants", type=int, default=500, help="how many changes are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--only", default="", metavar="WORDS", help="changes with this in the name")
    parser.add_argument("--list", action="store_true", help="say what is drawn, and end")
    parser.add_argument("--all-of-them", action="store_true", help="ask all of --tests, unmeasured")
    parser.add_argument(
        "--patience", type=float, default=10, help="seconds of the processor, for each test"
    )
    parser.add_argument("--source", type=Path, default=ROOT / "src/turnwire")
    parser.add_argument(
        "--tests", type=Path, nargs="+", default=[ROOT / "tests/core", ROOT / "tests/dialects"]
    )
    parser.add_argument("--equivalent", type=Path, default=LIST)
    parser.add_argument("--build", type=Path, default=ROOT / "build/mutation")
    return parser.parse_args(arguments)


def _files(source: Path, chosen: Sequence[str]) -> Iterator[Path]:
    for name in chosen:
        path = source / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _tell(answer: Answer) -> None:
    outcome = answer.how or "SURVIVES"
    say(f"{outcome:14} {answer.seconds:6.1f} s  {_described(answer.change)}")


def _report(asking: Asking, seconds: float) -> None:
    survivors = [answer for answer in asking.answers if answer.test is None]
    survivors.sort(key=lambda answer: (answer.change.file, answer.change.line))
    say("\nNoticed by no test:")
    for answer in survivors:
        say(f"  {_described(answer.change)}{f' ({answer.how})' if answer.how else ''}")
    if asking.not_planted:
        say(f"{len(asking.not_planted)} changes could not be made, and count for nothing:")
        for change in asking.not_planted:
            say(f"  {_described(change)}")
    tried = len(asking.answers)
    say(f"{in_words(tried - len(survivors), tried)}; {seconds:.0f} s")


def _described(change: Change) -> str:
    return f"{change.file}:{change.line} {change.operator}  {change.name}"


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
