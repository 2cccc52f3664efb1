"""What a server lists becomes tools, with bounds; one bad tool harms no other."""

from collections.abc import Mapping
from typing import Any

import pytest

from runtime.mcp.stage import CONTEXT, TEXT
from turnwire_agent.mcp.listing import Offered, Problem, offered
from turnwire_agent.mcp.settings import Bounds, Program, Server
from turnwire_agent.tools.arguments import Invalid, Valid
from turnwire_agent.tools.contract import Effect

PLACE = Program(command="server")
READ = {"name": "read", "inputSchema": TEXT}


async def answered(name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "content": [{"type": "text", "text": f"{name} {arguments}"}],
        "structuredContent": {"name": name},
    }


def listed(*tools: dict[str, Any], **settings: Any) -> Offered:
    return offered(Server(name="files", place=PLACE, **settings), tools, answered)


async def test_a_tool_of_a_server_is_a_tool() -> None:
    (tool,) = listed(
        {**READ, "description": "Reads.", "title": "Read"}, approval="always", call_s=7.0
    ).tools

    assert (tool.name, tool.description, tool.schema) == ("files.read", "Reads.", TEXT)
    assert (tool.approval, tool.timeout_s) == ("always", 7.0)
    assert tool.validate('{"text": "a"}') == Valid({"text": "a"})
    assert isinstance(tool.validate('{"text": 5}'), Invalid)
    assert await tool.call({"text": "a"}, CONTEXT) == "read {'text': 'a'}"


async def test_structured_content_counts_where_it_was_announced() -> None:
    (tool,) = listed({**READ, "outputSchema": {"type": "object"}, "title": "Read"}).tools

    assert tool.description == "Read"
    assert await tool.call({}, CONTEXT) == {"name": "read"}


@pytest.mark.parametrize(
    ("hints", "trusted", "effect"),
    [
        ({"readOnlyHint": True}, True, Effect.SAFE),
        ({"idempotentHint": True, "readOnlyHint": False}, True, Effect.SAFE),
        ({"readOnlyHint": "yes"}, True, Effect.ONCE),
        ({"destructiveHint": False}, True, Effect.ONCE),
        (None, True, Effect.ONCE),
        ({"readOnlyHint": True, "idempotentHint": True}, False, Effect.ONCE),
    ],
)
def test_hints_count_for_trusted_servers_alone(hints: Any, trusted: bool, effect: Effect) -> None:  # noqa: FBT001
    (tool,) = listed({**READ, "annotations": hints}, trusted=trusted).tools

    assert tool.effect is effect


def test_the_operator_chooses_tools_and_who_must_allow_them() -> None:
    tools = [{**READ, "name": name} for name in ("read", "write", "list")]

    seen = listed(
        *tools,
        only=frozenset({"read", "write", "delete"}),
        approval="never",
        approvals={"write": "always", "move": "always"},
    )

    assert [(each.name, each.approval) for each in seen.tools] == [
        ("files.read", "never"),
        ("files.write", "always"),
    ]
    why = "the settings name it, and it is not there"
    assert seen.problems == (Problem("files", "delete", why), Problem("files", "move", why))


def test_a_tool_that_changed_has_another_digest() -> None:
    (first,) = listed(READ).tools
    (same,) = listed(READ).tools
    changed = [
        listed({**READ, "description": "Deletes."}).tools[0],
        listed({**READ, "inputSchema": {"type": "object"}}).tools[0],
    ]

    assert same.digest == first.digest
    assert len({first.digest, *(tool.digest for tool in changed)}) == 3


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ({"inputSchema": TEXT}, "has a name and a schema"),
        ({**READ, "name": 5}, "has a name and a schema"),
        ({**READ, "name": "a\nb"}, "not printed as written"),
        ({**READ, "name": "a" * 300}, "1 to 256 characters"),
        ({**READ, "inputSchema": None}, "has a name and a schema"),
        ({**READ, "inputSchema": {"type": "string"}}, "arguments of a tool are an object"),
        ({**READ, "inputSchema": {"type": "object", "$ref": "#/x"}}, "#"),
        ({**READ, "inputSchema": {**TEXT, "x": "y" * 100_000}}, "more than 100000 bytes"),
        ({**READ, "description": "y" * 10_001}, "longer than 10000"),
        ({**READ, "description": 5}, "longer than 10000"),
    ],
)
def test_a_bad_tool_is_a_problem_and_harms_no_other(tool: dict[str, Any], words: str) -> None:
    seen = listed({**READ, "name": "before"}, tool, {**READ, "name": "after"})

    assert [each.name for each in seen.tools] == ["files.before", "files.after"]
    (problem,) = seen.problems
    assert problem.server == "files"
    assert words in problem.why
    assert "\n" not in problem.why


def test_a_schema_that_is_no_json_is_refused() -> None:
    deep: dict[str, Any] = {}
    inner = deep
    for _ in range(100_000):
        inner["x"] = inner = {}

    (problem,) = listed({**READ, "inputSchema": deep}).problems

    assert problem == Problem("files", "read", "its schema is no JSON")


def test_the_first_of_a_name_stays() -> None:
    seen = listed({**READ, "description": "one"}, {**READ, "description": "two"})

    assert [each.description for each in seen.tools] == ["one"]
    assert seen.problems == (Problem("files", "read", "another tool has its name"),)


def test_there_are_so_many_tools_and_no_more() -> None:
    tools = [{**READ, "name": f"t{number}"} for number in range(4)]

    seen = listed(*tools, bounds=Bounds(tools=3))

    assert [each.name for each in seen.tools] == ["files.t0", "files.t1", "files.t2"]
    assert [each.why for each in seen.problems] == [
        "it has more than 3 tools: those after them are left out"
    ]
    assert listed(*tools[:3], bounds=Bounds(tools=3)).problems == ()
