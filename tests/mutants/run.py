"""Plant each fault in a copy of the source and see which tests notice: `make mutants`.

The working tree is never touched. The property tests run by themselves first;
the table tests are asked about every fault too. Exits with 1 if a fault is
noticed by nobody, or too few by the properties.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
PROPERTIES: Final = sorted((ROOT / "tests/core").glob("test_promises*.py"))
TABLES: Final = [ROOT / "tests/core", ROOT / "tests/dialects"]
PROPERTIES_LEAST: Final = 8
"""So many faults must be noticed by the property tests alone."""
PARALLEL: Final = 2


class Mutant(NamedTuple):
    """`old`, found exactly once in `file` (below src/turnwire), becomes `new`."""

    name: str
    file: str
    old: str
    new: str


MUTANTS: Final = (
    Mutant(
        "a tool leaves the text before it open",
        "core/translate.py",
        "return [*self._close_block(), *parts] if parts else []",
        "return parts",
    ),
    Mutant(
        "the turn ends over an open block",
        "core/translate.py",
        "                *self._close_block(),\n                *self.questions.expire(),",
        "                *self.questions.expire(),",
    ),
    Mutant(
        "open tools get no outcome at the end",
        "core/translate.py",
        "                *self.calls.settle(unanswered),\n",
        "",
    ),
    Mutant(
        "block ids are used twice",
        "core/translate.py",
        "        self._blocks[kind] += 1\n",
        "",
    ),
    Mutant(
        "a step ends while a tool runs",
        "core/translate.py",
        "if self.calls.step_has_calls and not self.calls.open:",
        "if self.calls.step_has_calls:",
    ),
    Mutant(
        "a half of a pair is dropped",
        "core/translate.py",
        "            text = block.half + text\n",
        "            pass\n",
    ),
    Mutant(
        "a closed translator still speaks",
        "core/translate.py",
        "        self.state = State.CLOSED\n",
        "        pass\n",
    ),
    Mutant(
        "open questions are forgotten",
        "core/translate.py",
        "                *self.questions.expire(),\n",
        "",
    ),
    Mutant(
        "the half that waits is told twice at the end",
        "core/translate.py",
        '            self._block.half = ""\n        return self._write',
        "            pass\n        return self._write",
    ),
    Mutant(
        "a repeated outcome is sent again",
        "core/tools.py",
        "            if event.phase is not Phase.PENDING and not later:\n",
        "            if event.phase is Phase.RUNNING and not later:\n",
    ),
    Mutant(
        "an outcome comes without its input",
        "core/tools.py",
        "        return [*self._given(call, args), self._done(call, outcome)]",
        "        return [self._done(call, outcome)]",
    ),
    Mutant(
        "a reused call id is not told apart",
        "core/tools.py",
        "        count = 1 if before is None else before.count + 1\n",
        "        count = 1\n        self._shown_ids.clear()\n",
    ),
    Mutant(
        "finish is not followed by [DONE]",
        "core/sse.py",
        'end = DONE if type(chunk) is chunks.Finish else b""',
        'end = b""',
    ),
    Mutant(
        "line separators go out raw",
        "core/sse.py",
        "    if json.isascii():\n",
        "    if json:\n",
    ),
    Mutant(
        "a key __proto__ goes out",
        "core/harmless.py",
        '"__proto__": "_proto_", ',
        "",
    ),
    Mutant(
        "the short lane is not told of",
        "core/turn.py",
        "                    told_text(told)\n",
        "",
    ),
    Mutant(
        "frames after the end are heard",
        "core/turn.py",
        "                    if self.outcome is not None:\n                        break\n",
        "",
    ),
    Mutant(
        "an end of our own says nothing",
        "core/turn.py",
        "        if outcome.text is not None:\n",
        "        if outcome.text is None:\n",
    ),
    Mutant(
        "drain aborts the agent's turn",
        "core/turn.py",
        "return self._end(Outcome.DRAINING, now)",
        "return self._end(Outcome.DRAINING, now, abort=True)",
    ),
    Mutant(
        "a silent agent's turn is not aborted",
        "core/turn.py",
        "return self._end(Outcome.SILENT, now, abort=True)",
        "return self._end(Outcome.SILENT, now)",
    ),
    Mutant(
        "a pause of the client counts as silence",
        "core/turn.py",
        "self._heard_at += now - max(self._blocked_at, self._heard_at)",
        "pass",
    ),
    Mutant(
        "text told twice is sent twice",
        "dialects/v2/spellings.py",
        "        if excess <= 0:\n",
        "        if excess < -units:\n",
    ),
    Mutant(
        "lengths count characters",
        "dialects/v2/spellings.py",
        "len(_utf16(text)) // 2",
        "len(text)",
    ),
    Mutant(
        "an abort may hit another turn",
        "dialects/v2/whose.py",
        "return Reach.OTHERS if self.queued else Reach.OURS",
        "return Reach.OURS",
    ),
    Mutant(
        "another turn's reasoning is shown",
        "dialects/v2/wire.py",
        "case ReasoningDelta(turn_id, delta) if turn_id == ours:",
        "case ReasoningDelta(_, delta):",
    ),
    Mutant(
        "any message.create is ours",
        "dialects/v2/whose.py",
        "            return prompt_id == self._prompt_id\n        nameless",
        "            return True\n        nameless",
    ),
    Mutant(
        "one channel's turns block another's",
        "dialects/v2/others.py",
        "its is None or its == channel for",
        "True for",
    ),
    Mutant(
        "nesting is not measured",
        "core/prompt.py",
        "    if _deeper(raw, DEPTH_MAX):\n",
        "    if _deeper(raw, len(raw)):\n",
    ),
)


def plant(mutant: Mutant, src: Path) -> None:
    """Edit the copy.

    Raises:
        SystemExit: the text to change is not there exactly once.

    """
    file = src / "turnwire" / mutant.file
    text = file.read_text()
    if (found := text.count(mutant.old)) != 1:
        raise SystemExit(f"{mutant.name}: found {found} times in {mutant.file}: {mutant.old!r}")
    file.write_text(text.replace(mutant.old, mutant.new))


def noticed(src: Path, *tests: str) -> bool:
    """Whether a test fails with this source.

    Raises:
        SystemExit: the tests could not be run.

    """
    plugins = ("-p", "no:cacheprovider", "-p", "no:cov", "--hypothesis-profile", "verdict")
    options = ("-x", "-q", "-m", "not long", *plugins)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(src), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode not in {0, 1}:
        raise SystemExit(ran.stdout + ran.stderr)
    return ran.returncode == 1


def judge(mutant: Mutant | None) -> tuple[bool, bool]:
    """Whether the properties notice it, and whether the tables do."""
    with tempfile.TemporaryDirectory(prefix="turnwire-mutant-") as folder:
        src = Path(folder) / "src"
        shutil.copytree(ROOT / "src", src, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            plant(mutant, src)
        apart = [f"--ignore={path}" for path in PROPERTIES]
        return (
            noticed(src, *map(str, PROPERTIES)),
            noticed(src, *map(str, TABLES), *apart),
        )


def main() -> int:
    began = time.monotonic()
    with ThreadPoolExecutor(PARALLEL) as pool:
        verdicts = list(pool.map(judge, (None, *MUTANTS)))
    if any(verdicts[0]):
        say("The tests fail without any fault; nothing can be said.")
        return 1
    survivors = by_properties = 0
    say(f"{'fault':48} {'properties':10} tables")
    for mutant, (properties, tables) in zip(MUTANTS, verdicts[1:], strict=True):
        survivors += not (properties or tables)
        by_properties += properties
        say(f"{mutant.name:48} {_word(noticed=properties):10} {_word(noticed=tables)}")
    say(
        f"{len(MUTANTS)} faults, {survivors} noticed by nobody, {by_properties} by the"
        f" properties (at least {PROPERTIES_LEAST}); {time.monotonic() - began:.0f} s"
    )
    return int(survivors > 0 or by_properties < PROPERTIES_LEAST)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _word(*, noticed: bool) -> str:
    return "noticed" if noticed else "-"


if __name__ == "__main__":
    sys.exit(main())
