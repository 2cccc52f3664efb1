"""The script that plays a model calls the tools that a reader writes.

How it plays the tutorial's model is tried by tests/runtime/cli/test_tutorial.py.
"""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from turnwire_lab.process import free_port

SCRIPT: Final = Path(__file__).parents[2] / "examples/tutorial/scripted_model.py"
PLAYS: Final[dict[str, Any]] = runpy.run_path(str(SCRIPT), run_name="scripted_model")
ORDER: Final = {"name": "order", "description": "Look up what was paid for an order."}
REFUND: Final = {"name": "refund", "description": "Pay money back to the customer of an order."}
OWN_TOOL: Final = '''
def get_weather(city: str, days: int) -> str:
    """Forecast rain and sun."""
    return f"{days} days of rain in {city}."
'''


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Refund 40 for order o7.", "refund"),
        ("Look up order o7", "order"),
        ("Which ORDER is it?", "order"),
        ("Tell me a joke of a man", None),
        ("", None),
    ],
)
def test_the_tool_that_shares_most_words_with_the_prompt_is_called(
    prompt: str, name: str | None
) -> None:
    tool = PLAYS["chosen"]([ORDER, REFUND], prompt)

    assert (tool and tool["name"]) == name


def test_without_tools_nothing_is_called() -> None:
    assert PLAYS["chosen"]([], "Refund 40 for order o7.") is None


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "Oslo"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 3),
        ({"type": "integer"}, 3),
        ({"type": "boolean"}, True),
        ({"type": "array", "items": {"type": "number"}}, [3]),
        ({"enum": ["snow", "rain"]}, "rain"),
        ({"enum": ["fog", "sun"]}, "fog"),
        ({}, "Oslo"),
    ],
)
def test_an_argument_fits_its_schema_and_comes_from_the_prompt(
    schema: dict[str, object], value: object
) -> None:
    prompt = "Days with Rain, 3 of d7, for 12 hours in Oslo?"

    assert PLAYS["argument"](schema, prompt, iter(["3"])) == value


def test_numbers_are_taken_in_their_order_and_what_is_not_required_is_left_out() -> None:
    number = {"type": "integer"}
    parameters = {
        "type": "object",
        "properties": {"a": number, "b": number, "c": number, "d": number},
        "required": ["a", "b", "d"],
    }

    made = PLAYS["call"]({"name": "add", "parameters": parameters}, "add 12 and 7 of o9", "c1")

    assert json.loads(made["function"]["arguments"]) == {"a": 12, "b": 7, "d": 1}


@pytest.mark.sockets
def test_a_tool_of_the_readers_own_is_called_and_its_result_is_the_answer(tmp_path: Path) -> None:
    (tmp_path / "my_tools.py").write_text(OWN_TOOL)
    port = str(free_port())
    flags = ["--model", "local:script", "--base-url", f"http://127.0.0.1:{port}/v1"]
    asks = [*flags, "--shape", "chat", "--tool", "my_tools:get_weather", "Weather, 2 days in Oslo?"]
    with subprocess.Popen([sys.executable, SCRIPT, port], stdout=subprocess.PIPE) as script:
        try:
            assert script.stdout is not None
            assert script.stdout.readline()
            shown = subprocess.run(
                [Path(sys.executable).parent / "turnwire-agent", "try", *asks],
                cwd=tmp_path,
                env={"PATH": os.environ["PATH"]},
                capture_output=True,
                text=True,
                timeout=30,
                check=True,
            ).stdout
        finally:
            script.kill()

    assert "2 days of rain in Oslo." in shown
