import json
from typing import Any

import pytest

from turnwire_agent.generate.call import call
from turnwire_agent.generate.question import BadQuestionError, Question, question
from turnwire_agent.llm.events import TextEnd, ToolCall, ToolInputStart
from turnwire_agent.llm.model import Model, ShapeName
from turnwire_agent.llm.request import OneTool
from turnwire_agent.llm.transcript import Assistant, Call, Results

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [{"name": "weather.now", "description": "Looks out", "schema": SCHEMA}]
SAID: dict[str, Any] = {
    "type": "assistant",
    "parts": [{"type": "call", "id": "c", "name": "weather.now", "arguments": "{}"}],
}


def asked(**more: Any) -> Question:
    given = {"model": "m", "transcript": [], "tools": TOOLS} | more
    return question(json.dumps(given).encode())


def model(shape: ShapeName = "chat") -> Model:
    return Model(provider="local", name="tiny", shape=shape, base_url="")


def test_names_are_those_of_the_wire_on_their_way_and_registered_when_they_come_back() -> None:
    made = call(asked(transcript=[SAID], tool_choice={"name": "weather.now"}), model())
    (tool,) = made.request.tools
    said, results = made.request.transcript

    assert tool.name.startswith("weather_now_")
    assert (tool.description, tool.strict) == ("Looks out", True)
    assert made.request.tool_choice == OneTool(tool.name)
    assert isinstance(said, Assistant)
    assert said.calls == (Call("c", tool.name),)
    assert isinstance(results, Results)
    assert results.results[0].outcome == "unknown"
    assert made.event(ToolInputStart("c", tool.name)) == ToolInputStart("c", "weather.now")
    assert made.event(ToolCall("c", tool.name, "{}")) == ToolCall("c", "weather.now", "{}")


def test_what_the_model_invented_comes_as_it_is() -> None:
    made = call(asked(), model())

    for event in (
        ToolInputStart("c", "nothing"),
        ToolCall("c", "nothing", '{"a": null}'),
        ToolCall("c", made.request.tools[0].name, "{"),
        TextEnd("0"),
    ):
        shown = made.event(event)
        assert shown == event or (isinstance(shown, ToolCall) and shown.arguments == "{")


def test_nulls_that_a_strict_schema_asks_for_are_taken_out_again() -> None:
    made = call(asked(), model())
    name = made.request.tools[0].name

    null = made.event(ToolCall("c", name, '{"city": "Rome", "days": null}'))
    full = made.event(ToolCall("c", name, '{"city": "Rome", "days": 2}'))

    assert null == ToolCall("c", "weather.now", '{"city":"Rome"}')
    assert full == ToolCall("c", "weather.now", '{"city": "Rome", "days": 2}')


def test_settings_are_those_of_the_question() -> None:
    settings: dict[str, Any] = {
        "tool_choice": "required",
        "parallel_tools": False,
        "max_tokens": 5,
        "temperature": 0.5,
        "top_p": 0.9,
        "effort": "low",
        "answer_schema": {"type": "object"},
        "instructions": "Be brief.",
    }
    made = call(asked(stop=["x"], **settings), model())

    assert {name: getattr(made.request, name) for name in settings} == settings
    assert made.request.stop == ("x",)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"tools": [*TOOLS, *TOOLS]}, "two tools are called 'weather.now'"),
        ({"tools": [{"name": "", "schema": {}}]}, "the name of a tool"),
        ({"tools": [{"name": "t", "schema": {"$ref": "#/no"}}]}, "tool 't': "),
        ({"tool_choice": {"name": "x"}}, "the tool of tool_choice is not among the tools"),
    ],
)
def test_what_cannot_be_sent_is_refused(more: dict[str, Any], why: str) -> None:
    with pytest.raises(BadQuestionError, match=why):
        call(asked(**more), model())


def test_losses_of_a_schema_are_told() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a"}}}
    made = call(asked(tools=[{"name": "t", "schema": schema}]), model("google"))

    assert [each.where for each in made.losses]
