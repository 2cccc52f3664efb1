"""The files of docs/examples are run as they are, against a running demo."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.needed import lacking

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "examples"
SHOWN = re.compile(r"(?:<!-- run: (.+?) -->\n)?```\{literalinclude\} examples/(\S+)\n```")
EXAMPLES = SHOWN.findall((ROOT / "docs" / "examples.md").read_text(encoding="utf-8"))
NOT_RUN_HERE = ["chat.tsx", "approvals.tsx", "expo.tsx"]
"""The first two are run in a browser: tests/e2e/test_chat_example.py, test_approvals_example.py."""
MODULES = ROOT / "tests" / "clients" / "v7.0.173" / "node_modules"
SHELLS = {".sh": "bash", ".py": sys.executable, ".mjs": "node"}

pytestmark = [pytest.mark.sockets, pytest.mark.node]


@pytest.fixture(scope="module")
def demo() -> Iterator[dict[str, str]]:
    """The environment of a reader who has pasted the demo's line."""
    ports = ["--port", "0", "--metrics-port", "0", "--page-port", "0", "--site-port", "0"]
    command = [sys.executable, "-m", "turnwire_lab", "demo", *ports, "--pace", "0.005"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = "".join(iter(process.stdout.readline, "See one answer on the wire:\n"))
            line = re.search(r"export URL=(\S+) TOKEN=(\S+)", said)
            assert line is not None, said
            yield {"URL": line[1], "TOKEN": line[2], "PATH": os.environ["PATH"]}
        finally:
            process.terminate()
            process.communicate(timeout=120)


def test_every_example_is_shown_and_all_but_three_are_run() -> None:
    assert {name for _, name in EXAMPLES} == {path.name for path in FOLDER.iterdir()}
    assert [name for expected, name in EXAMPLES if not expected] == NOT_RUN_HERE


@pytest.mark.parametrize(
    ("expected", "name"), [each for each in EXAMPLES if each[0]], ids=lambda each: each
)
def test_an_example_does_what_it_says(
    demo: dict[str, str], expected: str, name: str, tmp_path: Path
) -> None:
    if name.endswith(".mjs"):
        (MODULES / "ai").is_dir() or lacking("the clients are not installed (`make node` does it)")
        (tmp_path / "node_modules").symlink_to(MODULES)
    # Away from the repository: an example is whole.
    script = tmp_path / name
    shutil.copy(FOLDER / name, script)
    ran = subprocess.run(
        [SHELLS[script.suffix], script],
        cwd=tmp_path,
        env=demo,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert expected in ran.stdout


def test_the_release_that_is_named_is_the_one_that_is_run() -> None:
    manifest = json.loads((MODULES.parent / "package.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert f"ai@{manifest['dependencies']['ai']}" in page
