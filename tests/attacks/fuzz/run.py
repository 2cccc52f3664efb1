"""`make fuzz`: the targets under libFuzzer (atheris), each for some seconds.

    .venv/bin/python tests/attacks/fuzz/run.py [--seconds 60] [TARGET...]

What a run finds stays in a folder of its own, and is told with the command to see it again.
"""

import argparse
import importlib
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

TESTS: Final = Path(__file__).parents[2]
sys.path.insert(0, str(TESTS))

NAMES: Final = (
    *("v2", "session-agent", "ag-ui", "ui-stream", "openai-chat", "openai-responses"),
    *("acp", "body", "continuation", "errands"),
)
_FINDS: Final = ("crash-", "timeout-", "oom-", "leak-")
_LONGEST: Final = 4_096
"""Of an input, in bytes."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--one", metavar="FILE", type=Path, help="run the one target on this input")
    parser.add_argument("--inside", metavar="FOLDER", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("target", nargs="*", choices=[[], *NAMES], help="all of them unless told")
    options = parser.parse_args()
    chosen = options.target or NAMES
    if options.inside is not None:
        fuzz(chosen[0], options.inside, options.seconds)
    if options.one is not None:
        return _again(chosen[0], options.one)
    return max(_outside(name, options.seconds) for name in chosen)


def _outside(name: str, seconds: int) -> int:
    """A process of its own, since libFuzzer ends the one that it is in."""
    folder = Path(tempfile.mkdtemp(prefix=f"turnwire-fuzz-{name}-"))
    command = (sys.executable, __file__, "--inside", str(folder), "--seconds", str(seconds), name)
    with (folder / "log").open("wb") as log:
        ended = subprocess.run(command, check=False, stdout=log, stderr=log).returncode
    count = folder / "count"
    say(f"{name}: {count.read_text() if count.exists() else 'nothing was tried'}")
    found = [path for path in folder.iterdir() if path.name.startswith(_FINDS)]
    if ended == 0 and not found:
        shutil.rmtree(folder)
        return 0
    say((folder / "log").read_text(errors="replace")[-3_000:])
    for file in found:
        say(f"{name}: see it again with {sys.executable} {__file__} {name} --one {file}")
    return 1


def fuzz(name: str, folder: Path, seconds: int) -> None:
    """Never returns."""
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["turnwire"]):
        from attacks.fuzz.targets import TARGETS  # noqa: PLC0415 (instrumented while it is imported)
    from attacks.fuzz.script import Counted  # noqa: PLC0415

    target = TARGETS[name]
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    words = folder / "words"
    escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in target.words)
    words.write_text("".join(f'"{word}"\n' for word in escaped))
    began, told_at = time.monotonic(), 0.0

    def one(data: bytes) -> None:
        nonlocal told_at
        target.run(data)
        now = time.monotonic() - began
        if now > told_at + 5 or now >= seconds - 1:
            told_at = now
            (folder / "count").write_text(
                f"{Counted.runs} inputs, {Counted.frames} frames in {now:.0f} s"
            )

    atheris.Setup(
        [
            name,
            *(f"-max_total_time={seconds}", f"-max_len={_LONGEST}", f"-dict={words}"),
            *(f"-artifact_prefix={folder}/", "-timeout=10", "-rss_limit_mb=2048"),
            *("-verbosity=0", str(corpus)),
        ],
        one,
    )
    atheris.Fuzz()


def _again(name: str, file: Path) -> int:
    from attacks.fuzz.targets import TARGETS  # noqa: PLC0415 (as above)

    TARGETS[name].run(file.read_bytes())
    return 0


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
