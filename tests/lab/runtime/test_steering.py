"""What a small model is asked: for the arguments of the tool that a prompt names, or for words."""

from typing import Any

import pytest

from turnwire_agent.tools.arguments import Valid
from turnwire_lab.runtime.served import AGENT
from turnwire_lab.runtime.steering import PROMPTS, RULES, as_call, steered

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": tool.name, "parameters": tool.schema}}
    for tool in AGENT.tools
]


def body(*messages: dict[str, Any], tools: Any = TOOLS) -> dict[str, Any]:
    return {"model": "m", "stream": True, "messages": list(messages), "tools": tools}


def says(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


@pytest.mark.parametrize(
    ("prompt", "tool"),
    [
        ("what is 12*7?", "calculator"),
        ("What TIME is it in Tokyo?", "clock"),
        ("search for keepalive", "search_docs"),
        ("survey the pages for journal", "survey"),
        ("write a note: buy bread", "write_note"),
        ("tell me a long story", None),
        ("there were 3 - no, four", None),
    ],
)
def test_words_of_a_prompt_choose_the_tool(prompt: str, tool: str | None) -> None:
    assert steered(body(says(prompt))).tool == tool


def test_each_rule_is_of_a_tool_and_its_example_fits() -> None:
    tools = {tool.name: tool for tool in AGENT.tools}
    for rule in RULES:
        assert steered(body(says(rule.prompt))).tool == rule.tool
        assert isinstance(tools[rule.tool].validate(rule.arguments), Valid)


def test_each_tool_is_in_what_a_visitor_may_ask() -> None:
    chosen = {steered(body(says(prompt))).tool for prompt, _ in PROMPTS}

    assert chosen == {tool.name for tool in AGENT.tools} | {None}


def test_the_arguments_are_held_to_the_schema_of_the_tool() -> None:
    asked, tool = steered(body(says("earlier"), says("survey the pages for hats")))

    assert tool == "survey"
    assert asked["response_format"]["json_schema"]["schema"] == TOOLS[3]["function"]["parameters"]
    assert asked["messages"][-1] == says("survey the pages for hats")
    assert not {"tools", "tool_choice"} & asked.keys()
    assert (asked["model"], asked["stream"]) == ("m", True)


def test_a_tool_that_is_not_offered_is_not_called() -> None:
    assert steered(body(says("what is 12*7?"), tools=[])).tool is None


def test_after_a_result_the_model_speaks_about_it() -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c"}]}
    result = {"role": "tool", "tool_call_id": "c", "content": '{"value":84}' + " " * 9_000}
    asked, tool = steered(body(says("what is 12*7?"), call, result))

    assert tool is None
    told = asked["messages"][-1]["content"]
    assert told.startswith('what is 12*7?\ncalculator: {"value":84}')
    assert len(told) < 500
    assert "response_format" not in asked


def test_a_conversation_is_told_in_its_words() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}
    parts = [{"type": "text", "text": "and"}, {"type": "text", "text": "now?"}]
    asked, _ = steered(
        body(
            says("what is 12*7?"),
            call,
            {"role": "tool", "tool_call_id": "c", "content": "84"},
            {"role": "assistant", "content": "84."},
            {"role": "user", "content": parts},
        )
    )

    assert asked["messages"] == [
        says("what is 12*7?"),
        {"role": "assistant", "content": "84."},
        says("and now?"),
    ]


def test_without_a_message_nothing_breaks() -> None:
    assert steered({"messages": []}).tool is None


def chunk(text: str | None = None, finish: str | None = None) -> dict[str, Any]:
    delta = {} if text is None else {"content": text}
    return {"id": "a1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_text_becomes_the_arguments_of_a_call() -> None:
    first = as_call(chunk(None), "survey", first=True)["choices"][0]
    next_one = as_call(chunk('{"w'), "survey", first=False)["choices"][0]
    last = as_call(chunk(finish="stop"), "survey", first=False)["choices"][0]

    (call,) = first["delta"]["tool_calls"]
    assert (call["index"], call["id"], call["type"]) == (0, "a1", "function")
    assert call["function"] == {"name": "survey", "arguments": ""}
    assert next_one["delta"]["tool_calls"] == [{"index": 0, "function": {"arguments": '{"w'}}]
    assert (last["delta"], last["finish_reason"]) == ({}, "tool_calls")


def test_a_call_that_is_cut_says_so() -> None:
    cut = as_call(chunk(finish="length"), "survey", first=False)

    assert cut["choices"][0]["finish_reason"] == "length"


def test_figures_of_usage_pass() -> None:
    usage = {"id": "a1", "choices": [], "usage": {"total_tokens": 3}}

    assert as_call(usage, "survey", first=False) == usage
