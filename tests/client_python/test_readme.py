"""The examples of the README are run as they stand there, against a running demo."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "packages/turnwire-client/README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"<!-- run: (.+?) -->\n```python\n(.*?)```", README, re.DOTALL)

pytestmark = pytest.mark.sockets


@pytest.fixture(scope="module")
def demo() -> Iterator[dict[str, str]]:
    """The environment of a reader who has pasted the demo's line."""
    ports = ["--port", "0", "--metrics-port", "0", "--page-port", "0", "--site-port", "0"]
    command = [sys.executable, "-m", "turnwire_lab", "demo", *ports, "--pace", "0.005"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            shown = "".join(iter(process.stdout.readline, "See one answer on the wire:\n"))
            line = re.search(r"export URL=(\S+) TOKEN=(\S+)", shown)
            assert line is not None, shown
            yield {"URL": line[1], "TOKEN": line[2], "PATH": os.environ["PATH"]}
        finally:
            process.terminate()
            process.communicate(timeout=120)


def test_every_example_is_run() -> None:
    assert len(EXAMPLES) == README.count("```python") == 3


@pytest.mark.parametrize(("expected", "code"), EXAMPLES)
def test_an_example_does_what_it_says(
    demo: dict[str, str], expected: str, code: str, tmp_path: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-"],
        input=code,
        cwd=tmp_path,
        env=demo,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert expected in ran.stdout
