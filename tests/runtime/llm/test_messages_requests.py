import json
from typing import Any

import pytest

from runtime.llm.messages_bodies import HI, HI_BLOCK, asked, encoded, native
from runtime.llm.transcripts import SCHEMA
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Quirks
from turnwire_agent.llm.request import OneTool, ToolSpec
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    Reasoning,
    Result,
    Results,
)

TOOLS = (ToolSpec("t", "", SCHEMA),)


def test_the_least_request_byte_for_byte() -> None:
    told = encoded(HI)

    assert told.path == "/messages"
    assert told.body == (
        b'{"model":"claude","max_tokens":8192,"stream":true,'
        b'"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}'
    )
    assert told.headers == (("anthropic-version", "2023-06-01"),)
    assert told.losses == ()


def test_all_that_a_request_can_ask() -> None:
    body = asked(
        HI,
        instructions="Be brief.",
        tools=(ToolSpec("search", "It searches.", SCHEMA, strict=True), *TOOLS),
        tool_choice="auto",
        parallel_tools=False,
        max_tokens=10,
        effort="low",
        stop=("END", "\n"),
        answer_schema=SCHEMA,
    )

    assert [tool.pop("input_schema") for tool in body["tools"]] == [SCHEMA, SCHEMA]
    assert body == {
        "model": "claude",
        "max_tokens": 10,
        "stream": True,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": [HI_BLOCK]}],
        "tools": [
            {"name": "search", "description": "It searches.", "strict": True},
            {"name": "t"},
        ],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
        "stop_sequences": ["END"],
    }
    assert encoded(HI, stop=("\n",)).losses == (
        Loss("stop", "dropped", "the wire has no word of white space alone"),
    )
    strict = (ToolSpec("t", "", SCHEMA, strict=True),)
    assert "strict" not in asked(HI, tools=strict, quirks=Quirks(strict_tools=False))["tools"][0]


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("auto", {"type": "auto", "disable_parallel_tool_use": False}),
        ("none", {"type": "none"}),
        ("required", {"type": "any", "disable_parallel_tool_use": False}),
        (OneTool("t"), {"type": "tool", "name": "t", "disable_parallel_tool_use": False}),
    ],
)
def test_a_choice_of_tools(choice: Any, told: Any) -> None:
    assert asked(HI, tools=TOOLS, tool_choice=choice, parallel_tools=True)["tool_choice"] == told
    assert "tool_choice" not in asked(HI, tool_choice=choice)


def test_a_choice_says_nothing_of_parallel_calls_that_the_request_leaves_open() -> None:
    assert asked(HI, tools=TOOLS)["tool_choice"] == {"type": "auto"}


@pytest.mark.parametrize(
    ("more", "sent", "losses"),
    [
        ({"temperature": 0.0}, {"temperature": 0.0}, []),
        ({"top_p": 0.5}, {"top_p": 0.5}, []),
        (
            {"temperature": 1.5},
            {"temperature": 1.0},
            [Loss("temperature", "sent as 1", "the wire has none above")],
        ),
        (
            {"temperature": 0.5, "top_p": 0.5},
            {"temperature": 0.5},
            [Loss("top_p", "dropped", "the wire takes one of the two")],
        ),
        (
            {"top_p": 0.5, "effort": "low"},
            {},
            [Loss("top_p", "dropped", "a model that thinks has its own")],
        ),
        ({"temperature": 0.5, "effort": "none"}, {"temperature": 0.5}, []),
    ],
)
def test_sampling_of_an_older_model_is_what_the_wire_takes(
    more: Any, sent: Any, losses: Any
) -> None:
    older = Quirks(sampling=True)
    body = asked(HI, quirks=older, **more)

    assert {key: body[key] for key in ("temperature", "top_p") if key in body} == sent
    assert [*encoded(HI, quirks=older, **more).losses] == losses


def test_a_newer_model_takes_no_sampling() -> None:
    told = encoded(HI, temperature=0.0, top_p=0.5)

    assert not {"temperature", "top_p"} & set(json.loads(told.body))
    assert told.losses == (
        Loss("temperature", "dropped", "the model does not take it"),
        Loss("top_p", "dropped", "the model does not take it"),
    )


@pytest.mark.parametrize(
    ("thinking", "effort", "max_tokens", "told", "why"),
    [
        ("adaptive", None, 2000, None, None),
        ("adaptive", "none", 2000, {"type": "disabled"}, None),
        ("adaptive", "high", 2000, {"type": "adaptive", "display": "summarized"}, None),
        ("budget", "low", 2000, {"type": "enabled", "budget_tokens": 1024}, None),
        ("budget", "medium", 20_000, {"type": "enabled", "budget_tokens": 10_000}, None),
        ("budget", "high", 20_000, {"type": "enabled", "budget_tokens": 16_000}, None),
        ("budget", "high", 1025, {"type": "enabled", "budget_tokens": 1024}, None),
        ("budget", "none", 2000, {"type": "disabled"}, None),
        (
            "budget",
            "low",
            1024,
            {"type": "disabled"},
            "the bound of the answer leaves no room for it",
        ),
        ("none", "none", 2000, None, None),
        ("none", "high", 2000, None, "the model does not think"),
    ],
)
def test_an_effort_is_told_as_the_model_takes_it(
    thinking: Any, effort: Any, max_tokens: int, told: Any, why: Any
) -> None:
    more = {"effort": effort, "max_tokens": max_tokens, "quirks": Quirks(thinking=thinking)}
    body = asked(HI, **more)

    assert body.get("thinking") == told
    efforts = {"effort": effort} if told and told["type"] == "adaptive" else None
    assert body.get("output_config") == efforts
    losses = (Loss("effort", "dropped", why),) if why else ()
    assert encoded(HI, **more).losses == losses


@pytest.mark.parametrize("choice", ["required", OneTool("t")])
def test_who_must_call_a_tool_does_not_think(choice: Any) -> None:
    more = {"tools": TOOLS, "tool_choice": choice, "temperature": 0.5}
    told = encoded(HI, effort="high", quirks=Quirks(sampling=True), **more)

    body = json.loads(told.body)
    assert body["thinking"] == {"type": "disabled"}
    assert body["temperature"] == 0.5
    assert "output_config" not in body
    why = "a model that must call a tool does not think"
    assert told.losses == (Loss("effort", "dropped", why),)


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_who_need_not_call_a_tool_thinks(choice: Any) -> None:
    body = asked(HI, effort="high", tools=TOOLS, tool_choice=choice)

    assert body["thinking"]["type"] == "adaptive"


@pytest.mark.parametrize(
    ("first", "enabled"),
    [
        (native(b'[{"type":"thinking"},{"type":"tool_use"}]', Call("c", "t")), True),
        (native(b'[{"type":"redacted_thinking"},{"type":"tool_use"}]', Call("c", "t")), True),
        (native(b'[{"type":"text","text":"x"},{"type":"thinking"}]', Call("c", "t")), False),
        (Assistant((Reasoning("hm"), Call("c", "t"))), False),
    ],
)
def test_a_bounded_model_thinks_only_in_a_turn_that_it_began_so(
    first: Assistant, *, enabled: bool
) -> None:
    later = native(b'[{"type":"tool_use"}]', Call("d", "t"))
    loop = (HI, first, Results((Result("c", "t"),)), later, Results((Result("d", "t"),)))
    how = {True: "enabled", False: "disabled"}[enabled]

    told = encoded(*loop, effort="low", quirks=Quirks(thinking="budget"))
    assert json.loads(told.body)["thinking"]["type"] == how
    refused = Loss("effort", "dropped", "the turn began without it")
    assert (refused in told.losses) is not enabled
    assert asked(*loop, effort="low")["thinking"]["type"] == "adaptive"
    next_turn = asked(*loop, HI, effort="low", quirks=Quirks(thinking="budget"))
    assert next_turn["thinking"]["type"] == "enabled"
