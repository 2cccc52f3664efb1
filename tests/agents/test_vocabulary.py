"""The vocabulary that the dialect is compared with is that of the installed protocol packages."""

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from agents import vocabulary
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS

KNOWN: Final = json.loads((Path(__file__).parents[1] / "golden/ag-ui-vocabulary.json").read_text())
INSTALLED: Final = sorted(name for name, each in FRAMEWORKS.items() if each.python.exists())


def test_some_are_installed() -> None:
    assert INSTALLED


@pytest.mark.parametrize("framework", INSTALLED)
def test_an_installed_protocol_has_no_other_events_and_fields(framework: str) -> None:
    ran = subprocess.run(
        [str(FRAMEWORKS[framework].python), vocabulary.__file__],
        capture_output=True,
        timeout=60,
        check=True,
    )

    ((version, events),) = json.loads(ran.stdout).items()
    assert version in KNOWN
    assert events == KNOWN[version]
