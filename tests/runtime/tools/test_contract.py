"""What is registered is what can be called, under one name on each wire."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from runtime.tools.hostile_schemas import HOSTILE
from runtime.tools.schema_words import TEXT, of
from runtime.tools.schemas import REAL
from turnwire_agent.tools.arguments import Valid, untyped
from turnwire_agent.tools.contract import (
    BadToolError,
    Context,
    Effect,
    Tool,
    ToolFailed,
    Tools,
    declared,
)
from turnwire_agent.tools.names import wire_name

CONTEXT = Context(call_id="c1", key="k1", deadline=5.0)


def tool_of(name: str = "read", schema: Any = None, **others: Any) -> Tool:
    return Tool(
        name=name,
        schema=of({"path": TEXT, "token": TEXT}) if schema is None else schema,
        validate=lambda _: Valid({}),
        call=lambda value, context: (value, context),
        **others,
    )


def test_a_tool_does_something_once_unless_it_says_otherwise() -> None:
    tool = tool_of()

    assert (tool.effect, tool.approval, tool.timeout_s) == (Effect.ONCE, "never", 60.0)
    assert not tool.sequential
    assert tool.call({"path": "x"}, CONTEXT) == ({"path": "x"}, CONTEXT)


def test_a_digest_names_the_content_of_a_tool() -> None:
    first = tool_of(description="Reads.")
    turned = {"properties": {"token": TEXT, "path": TEXT}, "type": "object"}

    assert len(first.digest) == len(sha256().hexdigest())
    assert tool_of(description="Reads.", schema=turned, timeout_s=9.0).digest == first.digest
    changes: list[dict[str, Any]] = [
        {"name": "write"},
        {"description": "Reads!"},
        {"schema": of({"path": TEXT})},
        {"effect": Effect.SAFE},
    ]
    digests = {tool_of(**{"description": "Reads.", **change}).digest for change in changes}
    assert len(digests | {first.digest}) == len(changes) + 1


@pytest.mark.parametrize("name", REAL)
def test_a_real_schema_makes_a_tool(name: str) -> None:
    schema = REAL[name]
    tool = Tool(name=name, schema=schema, validate=untyped(schema), call=lambda *_: None)

    assert tool.schema is schema


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_makes_none(name: str) -> None:
    with pytest.raises(BadToolError, match=r"^tool 'read': ") as refused:
        tool_of(schema=HOSTILE[name])

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"name": " read"}, "is no name of a tool"),
        ({"name": ""}, "a text of 1 to 256 characters"),
        ({"timeout_s": 0.0}, "tool 'read': a timeout is more than 0 seconds"),
        ({"timeout_s": float("nan")}, "tool 'read': a timeout is more than 0 seconds"),
        ({"approval": "sometimes"}, "tool 'read': approval is never, always, or a function"),
        ({"key": str}, "tool 'read': a key is for effect KEYED"),
        ({"secrets": frozenset({"key"})}, "tool 'read': 'key' is secret, but no argument"),
        ({"description": "x" * 10_001}, "tool 'read': its description is longer than 10000"),
    ],
)
def test_what_would_fail_in_a_turn_is_refused(others: dict[str, Any], words: str) -> None:
    with pytest.raises(BadToolError, match=words):
        tool_of(**others)


def test_secret_arguments_are_those_of_the_schema() -> None:
    assert tool_of(secrets=frozenset({"token"})).secrets == {"token"}
    assert declared(REAL["reference at the root"]) == {"value", "next"}


def above(limit: int) -> Callable[[Any], bool]:
    return lambda value: bool(value["amount"] > limit)


def test_approval_is_never_always_or_decided() -> None:
    assert not tool_of().needs_approval({})
    assert tool_of(approval="always").needs_approval({})
    decided = tool_of(approval=above(100))

    assert decided.needs_approval({"amount": 101})
    assert not decided.needs_approval({"amount": 100})


def test_tools_are_found_by_their_registered_names() -> None:
    read, write = tool_of("fs.read"), tool_of("fs.write")
    tools = Tools([read, write])

    assert [*tools] == [read, write]
    assert len(tools) == 2
    assert tools.get("fs.read") is read
    assert tools.get("fs_read") is None
    assert tools.wire("google").tool("fs.write") == "fs.write"
    assert tools.wire("chat").tool(wire_name("fs.write", "chat")) == "fs.write"
    assert len(Tools()) == 0


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(BadToolError, match="two tools are called 'read'"):
        Tools([tool_of(), tool_of()])


def test_two_tools_that_meet_on_a_wire_are_refused() -> None:
    with pytest.raises(BadToolError, match=r"on the wire \(chat\)"):
        Tools([tool_of("fs.read"), tool_of(wire_name("fs.read", "chat"))])


def test_there_are_not_too_many_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwire_agent.tools.contract.TOOLS_MAX", 2)

    with pytest.raises(BadToolError, match="more than 2 tools"):
        Tools(tool_of(f"t{at}") for at in range(3))


def test_a_failure_says_what_the_model_sees() -> None:
    assert str(ToolFailed("The file is locked.")) == "The file is locked."


def test_nobody_is_asked_outside_of_a_turn() -> None:
    with pytest.raises(RuntimeError, match="nobody can be asked here"):
        CONTEXT.ask("Anybody?", options=["yes"])
