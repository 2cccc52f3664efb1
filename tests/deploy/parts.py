"""The files of deploy/, read, and the tools that look at them."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from gateway.needed import lacking

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
KUBERNETES: Final = DEPLOY / "kubernetes"

Json = dict[str, Any]

NO_NEW_CODE: Final = """\
import ctypes, os, sys
assert ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) == 0  # PR_SET_MDWE: MemoryDenyWriteExecute=
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Runs a program that can make no code at run time. It needs a kernel of 6.3 or later."""


def tool(name: str, *, venv: Path = Path(sys.prefix)) -> str:
    """A program of the test environment; `make deploy-check` installs it."""
    found = venv / "bin" / name
    return str(found) if found.exists() else lacking(f"{name} is not there: `make deploy-check`")


def run(
    command: Sequence[object],
    *,
    given: str | None = None,
    cwd: Path = ROOT,
    within_s: float = 300,
) -> tuple[int, str, str]:
    """Run a program to its end: exit code, standard output, standard error."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        input=given,
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def manifests(overlay: str) -> list[Json]:
    """What kustomize makes of a folder of deploy/kubernetes."""
    code, out, err = run([tool("kubectl"), "kustomize", KUBERNETES / overlay])
    assert code == 0, err
    return [msgspec.yaml.decode(each, type=Json) for each in out.split("\n---\n")]


def one(kind: str, name: str, of: Sequence[Json]) -> Json:
    (found,) = (each for each in of if each["kind"] == kind and each["metadata"]["name"] == name)
    return found


def compose(name: str = "compose.yaml") -> Json:
    return msgspec.yaml.decode((DEPLOY / name).read_bytes(), type=Json)


def env_file(path: Path) -> dict[str, str]:
    """The variables of a file with one `NAME=value` a line."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.split("=", 1) for line in lines if line and not line.startswith("#"))
    return {name: value for name, value in pairs}  # noqa: C416 (mypy wants pairs)


def of_unit(name: str) -> dict[str, str]:
    """The variables of the gateway that a file of deploy/systemd sets."""
    text = (DEPLOY / "systemd" / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^Environment=(TURNWIRE_\w+)=(\S+)$", text, re.MULTILINE))


def as_json(text: str) -> Any:
    return json.loads(text)
