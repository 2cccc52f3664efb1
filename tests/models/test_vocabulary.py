"""The vocabulary of OpenAI's wires is that of the installed `openai` package."""

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from gateway.needed import lacking
from support.vocabulary import renewed

pytestmark = pytest.mark.sockets  # it starts a process

PYTHON: Final = Path(__file__).parents[2] / ".venv/models/bin/python"
SCRIPT: Final = Path(__file__).parent / "vocabulary.py"


def test_the_installed_package_has_no_other_events_and_fields() -> None:
    if not PYTHON.exists():
        lacking("the `openai` package has no environment (`make tools` makes it)")
    ran = subprocess.run([PYTHON, SCRIPT], capture_output=True, timeout=60, check=True)

    printed = json.loads(ran.stdout)
    assert sorted(printed) == ["openai-chat", "openai-responses"]
    assert printed == {wire: renewed(wire, found) for wire, found in printed.items()}
