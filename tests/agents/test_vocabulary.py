"""The vocabularies that dialects are compared with are those of the installed packages."""

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from agents import acp_vocabulary, vocabulary
from conformance.clients import FOLDER, node
from gateway.needed import lacking
from support.vocabulary import Types, renewed
from support.vocabulary import vocabulary as known
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS, OTHER_AGENTS

INSTALLED: Final = sorted(name for name, each in FRAMEWORKS.items() if each.python.exists())


def printed(program: str | Path, script: str | Path) -> dict[str, Types]:
    """What a script prints of its package."""
    ran = subprocess.run([program, script], capture_output=True, timeout=60, check=True)
    found: dict[str, Types] = json.loads(ran.stdout)
    return found


def test_some_are_installed() -> None:
    assert INSTALLED


@pytest.mark.parametrize("framework", INSTALLED)
def test_an_installed_protocol_has_no_other_events_and_fields(framework: str) -> None:
    ((version, events),) = printed(FRAMEWORKS[framework].python, vocabulary.__file__).items()

    assert version in known("ag-ui")
    assert events == known("ag-ui")[version]


def test_the_installed_acp_has_no_other_messages_and_fields() -> None:
    python = OTHER_AGENTS["acp"].python
    if not python.exists():
        lacking("the agent is not installed: `make tools`")

    found = printed(python, acp_vocabulary.__file__)

    assert found == renewed("acp", found)


@pytest.mark.node
def test_the_newest_sdk_of_each_major_has_no_other_chunks_and_fields() -> None:
    found = printed(node(), FOLDER / "vocabulary.mjs")

    assert found == renewed("ui-stream", found)
