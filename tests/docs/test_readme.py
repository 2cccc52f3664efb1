"""The README's examples are run as they stand there, against a running demo."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = re.compile(r"<!-- run: (.+?) -->\n```(\w+)\n(.*?)```", re.DOTALL)
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = EXAMPLE.findall(README)

pytestmark = pytest.mark.sockets


@pytest.fixture(scope="module")
def demo() -> Iterator[dict[str, str]]:
    """A demo on a free port, and the environment in which its reader sits."""
    command = [sys.executable, "-m", "turnwire_lab", "demo", "--port", "0", "--metrics-port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = "".join(iter(process.stdout.readline, "See one answer on the wire:\n"))
            url = re.search(r"http://127\.0\.0\.1:\d+", said)
            token = re.search(r"eyJ[\w.-]+", said)
            assert url is not None, said
            assert token is not None, said
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            yield {"URL": url[0], "TOKEN": token[0], "PATH": path}
        finally:
            process.terminate()
            process.communicate(timeout=120)


def test_there_are_examples() -> None:
    assert {language for _, language, _ in EXAMPLES} == {"sh", "python"}


def test_no_example_replaces_what_the_demo_gave_its_shell() -> None:
    """All are pasted into one shell, in any order."""
    scripts = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    assigned = {name for script in scripts for name in re.findall(r"\b([A-Za-z_]+)=", script)}

    assert "session" in assigned
    assert assigned.isdisjoint({"URL", "TOKEN"})


@pytest.mark.parametrize(("expected", "language", "code"), EXAMPLES)
def test_an_example_does_what_it_says(
    demo: dict[str, str], expected: str, language: str, code: str
) -> None:
    shell = {"sh": ["bash", "-euo", "pipefail"], "python": [sys.executable, "-"]}[language]
    ran = subprocess.run(
        shell,
        input=code,
        cwd=ROOT,
        env=demo,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert expected in ran.stdout
