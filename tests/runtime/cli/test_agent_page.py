"""What docs/agent.md shows is run, and the tests that it names are there."""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.host.hosted import hosted, words
from turnwire_agent import Agent, Effect, Limits, tool
from turnwire_agent.cli import _COMMANDS
from turnwire_agent.settings import from_values

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = (ROOT / "docs/agent.md").read_text()
PYTHON: Final = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_each_promise_names_tests_that_exist() -> None:
    promises = re.findall(r"^\| (A\d) \| .* \| (.*) \|$", PAGE, re.MULTILINE)
    assert [name for name, _ in promises] == [f"A{number}" for number in range(1, 8)]

    for name, tests in promises:
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", tests)
        assert len(named) == tests.count("`") // 2 > 0, name
        for path, function in named:
            assert f"def {function}(" in (ROOT / "tests/runtime" / path).read_text(), function


def test_an_agent_in_python_and_in_a_file_are_the_same() -> None:
    @tool(effect=Effect.SAFE)
    def order(order_id: str) -> str:
        """Look an order up."""
        return order_id

    given: dict[str, Any] = {"order": order, "refund": order}
    exec(PYTHON[0], given)  # noqa: S102 (our own page)
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    file = from_values(tomllib.loads(text), "docs/agent.md")

    assert isinstance(given["agent"], Agent)
    assert given["agent"].limits == file.limits == Limits(steps=20)
    assert file.mcp["files"].approval == "always"
    assert file.openapi["shop"].key_variable == "SHOP_KEY"


@pytest.mark.sockets
async def test_a_driver_of_ones_own_gives_the_answers() -> None:
    given: dict[str, Any] = {}
    exec(PYTHON[1], given)  # noqa: S102 (our own page)

    async with hosted(given["agent"].driver) as host, host.socket() as gateway:
        assert words(await gateway.turn("Say it again")) == "Say it again"


def test_each_command_stands_in_the_table() -> None:
    listed = set(re.findall(r"^\| `(\w+) [^|]*` \|", PAGE, re.MULTILINE))

    assert listed == set(_COMMANDS)
