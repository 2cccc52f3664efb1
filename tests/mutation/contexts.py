"""Which tests run a line, and how long each takes: measured once, kept until the code changes.

    python -m mutation.contexts FOLDER SOURCE TESTS...

This runs in a process of its own, since coverage must be there before the code is imported.
"""

import hashlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

import coverage
import pytest
from coverage.numbits import nums_to_numbits, register_sqlite_functions

from mutation.options import OPTIONS, environment
from mutation.planting import Living

_KINDS: Final = {".py", ".json", ".jsonl", ".sse", ".toml"}
_LINES: Final = "lines"
_SECONDS: Final = "seconds.json"
_ASKED: Final = """
    SELECT DISTINCT context.context FROM line_bits
    JOIN context ON context.id = line_bits.context_id
    JOIN file ON file.id = line_bits.file_id
    WHERE file.path = ? AND numbits_any_intersection(line_bits.numbits, ?)
"""


class Contexts:
    """What was measured."""

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = json.loads((folder / _SECONDS).read_text())
        self._lines = sqlite3.connect(folder / _LINES)
        register_sqlite_functions(self._lines)

    def tests(self, path: Path, lines: Collection[int]) -> list[str]:
        """The ids of the tests that run one of these lines, the fastest first."""
        rows = self._lines.execute(_ASKED, (str(path), nums_to_numbits(lines)))
        asked = [test for (test,) in rows if test in self.seconds]
        return sorted(asked, key=lambda test: (self.seconds[test], test))


def contexts(folder: Path, source: Path, tests: Sequence[Path]) -> Contexts:
    """What is kept below `folder` for this code, or else measured now.

    Raises:
        SystemExit: a test fails.

    """
    kept = folder / _digest(source, tests)
    if not (kept / _SECONDS).exists():
        kept.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "mutation.contexts", *map(str, (kept, source, *tests))]
        if subprocess.run(command, env=environment(source), check=False).returncode:
            raise SystemExit("The tests fail without any change; nothing can be said.")
    return Contexts(kept)


def _digest(source: Path, tests: Sequence[Path]) -> str:
    """One for each state of the code, its tests, and what stands beside them in support/."""
    folders = {source, *tests, *(path.parent / "support" for path in tests)}
    digest = hashlib.sha256(repr([sys.version, *map(str, tests)]).encode())
    for folder in sorted(folders):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            if path.suffix in _KINDS and path.exists():
                digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


class _Measuring:
    def __init__(self, measured: coverage.Coverage, source: Path) -> None:
        self.seconds: dict[str, float] = {}
        self._measured = measured
        self._source = source
        self._living = Living(source)

    def pytest_collection_finish(self) -> None:
        self._living = Living(self._source)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Seconds of this process, since those of a clock are those of others, too.

        No test has from a cache what another test had computed: it runs those lines itself.
        """
        self._living.empty_caches()
        self._measured.switch_context(item.nodeid)
        began = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = round(time.process_time() - began, 4)


def main(folder: str, source: str, *tests: str) -> int:
    measured = coverage.Coverage(
        data_file=str(Path(folder, _LINES)), config_file=False, include=[f"{source}/*"]
    )
    measured.erase()
    measured.start()
    measuring = _Measuring(measured, Path(source))
    code = pytest.main([*OPTIONS, "-q", "-x", *tests], plugins=[measuring])
    measured.stop()
    measured.save()
    if code == pytest.ExitCode.OK:
        Path(folder, _SECONDS).write_text(json.dumps(measuring.seconds))
    return int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
