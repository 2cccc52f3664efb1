from pathlib import Path

import pytest

from config.given import GOOD
from turnwire.config import dialect_defaults
from turnwire.config.environ import from_environ
from turnwire.config.settings import variable
from turnwire.core.operations import OperationName
from turnwire.dialects import DIALECTS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", DIALECTS)
def test_the_defaults_follow_from_what_the_agent_keeps(name: str) -> None:
    dialect = DIALECTS[name]
    can_repeat = OperationName.RESUME in dialect.operations

    assert dialect_defaults.turn_log(name) == ("off" if can_repeat else "memory")
    assert dialect_defaults.keeper(name) == ("agent" if dialect.keeps_history else "client")


def test_the_wires_that_repeat_their_turns() -> None:
    assert {name for name in DIALECTS if dialect_defaults.turn_log(name) == "off"} == {
        "v2",
        "session-agent",
    }


def test_each_wire_has_a_url_as_an_example() -> None:
    assert set(dialect_defaults.AGENT_URLS) == set(DIALECTS)


@pytest.mark.parametrize("name", DIALECTS)
def test_the_example_of_a_url_stands_in_the_docs(name: str) -> None:
    url = dialect_defaults.AGENT_URLS[name]
    pages = "\n".join(page.read_text() for page in DOCS.glob("*.md"))

    assert f"TURNWIRE_AGENT_URL={url}" in pages.replace("'", "")


@pytest.mark.parametrize("name", DIALECTS)
def test_the_examples_are_settings(name: str) -> None:
    needs = {field: dialect_defaults.NEEDED[field] for field in DIALECTS[name].needs}
    values = {"dialect": name, "agent_url": dialect_defaults.AGENT_URLS[name], **needs}

    settings = from_environ(GOOD | {variable(field): value for field, value in values.items()})
    assert settings.dialect == name
