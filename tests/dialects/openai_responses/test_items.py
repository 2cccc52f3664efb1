"""Items: what is read of each, and what is not taken for anything."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import openai_responses_frames as f
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_responses import items


def item(fields: dict[str, Any]) -> items.Item:
    found = items.read(Raw(json.dumps(fields).encode()))
    assert found is not None
    return found


@pytest.mark.parametrize("raw", [b"7", b"{}", b'{"type":7}', b"null", b""])
def test_what_is_no_item(raw: bytes) -> None:
    assert items.read(Raw(raw)) is None


def test_a_wrong_field_hides_no_other() -> None:
    read = item({"type": "function_call", "name": 7, "call_id": [], "status": None})

    assert (items.word(read.name), items.word(read.call_id), items.word(read.id)) == ("", "", "")


@pytest.mark.parametrize(
    ("fields", "name", "given"),
    [
        (f.call(args='{"a":1}'), "weather", '{"a":1}'),
        (f.call(args=""), "weather", None),
        (f.call(args="no json"), "weather", '"no json"'),
        (f.call(arguments={"a": 1}), "weather", '{"a": 1}'),
        ({"type": "custom_tool_call", "name": "sql", "input": "now"}, "sql", '"now"'),
        ({"type": "custom_tool_call"}, "custom_tool", None),
        (f.tool("web_search_call", action={"query": "x"}), "web_search", '{"query": "x"}'),
        (f.tool("file_search_call", queries=["x"]), "file_search", '{"queries":["x"]}'),
        (f.tool("code_interpreter_call", code="1+1"), "code_interpreter", '{"code":"1+1"}'),
        (f.tool("mcp_call", name="read", arguments="{}"), "read", "{}"),
        (f.asks(), "delete_file", '{"path":"a.txt"}'),
        (f.tool("image_generation_call", name="x"), "image_generation", None),
        (f.tool("shell_call", action={"commands": ["ls"]}), "shell", '{"commands": ["ls"]}'),
        (f.tool("local_shell_call", action={"env": {}}), "local_shell", '{"env": {}}'),
        (f.tool("apply_patch_call", operation={"path": "a"}), "apply_patch", '{"path": "a"}'),
        (f.tool("computer_call", action={"type": "wait"}), "computer", '{"type": "wait"}'),
        (f.tool("computer_call", actions=[{"type": "wait"}]), "computer", '[{"type": "wait"}]'),
        (f.tool("tool_search_call", arguments={"q": 1}), "tool_search", '{"q": 1}'),
    ],
)
def test_the_name_and_the_input_of_a_call(
    fields: dict[str, Any], name: str, given: str | None
) -> None:
    read = item(fields)
    found = items.input_of(read)

    assert items.tool_name(read) == name
    assert (None if found is None else bytes(found).decode()) == given
    assert items.is_call(read) != (read.type == items.APPROVAL)


@pytest.mark.parametrize(
    ("fields", "output", "pictures"),
    [
        (f.output('{"t": 21}'), '{"t": 21}', ()),
        (f.output("sunny"), '"sunny"', ()),
        (f.output([{"type": "input_text", "text": '{"t"'}, {"text": ": 21}"}]), '{"t": 21}', ()),
        (f.output([{"type": "input_image", "image_url": "https://i"}]), '""', ("https://i",)),
        (f.output([{"type": "input_file"}, 7]), '[{"type": "input_file"}, 7]', ()),
        (f.output([{"text": "a"}, {"type": "input_file"}, 7]), '"a"', ()),
        (f.output([]), "[]", ()),
        (
            {"type": "shell_call_output", "output": [{"stdout": "a", "stderr": ""}]},
            '[{"stdout": "a", "stderr": ""}]',
            (),
        ),
        (f.output(None), '{"status":"completed"}', ()),
        (f.tool("mcp_call", output="[1]"), "[1]", ()),
        (f.tool("file_search_call", results=[{"text": "x"}]), '[{"text": "x"}]', ()),
        (f.tool("code_interpreter_call", outputs=[1]), "[1]", ()),
        (f.tool("web_search_call", status="done"), '{"status":"done"}', ()),
    ],
)
def test_what_a_call_brought(
    fields: dict[str, Any], output: str, pictures: tuple[str, ...]
) -> None:
    outcome = items.outcome_of(item(fields), FrameStats())

    assert (bytes(outcome.output).decode(), outcome.pictures) == (output, pictures)


def test_parts_of_a_result_that_are_left_out_are_counted() -> None:
    stats = FrameStats()
    items.outcome_of(item(f.output([{"text": "a"}, {"type": "input_file"}, 7])), stats)

    assert (stats.left_out, stats.left_out_bytes) == ({"part of a result": 2}, 1)


@pytest.mark.parametrize(
    ("fields", "is_failed"),
    [
        (f.tool("mcp_call", error="no"), True),
        (f.tool("mcp_call", error=None), False),
        (f.tool("mcp_call", error=""), False),
        (f.output("x", error=False), False),
        (f.tool("mcp_call", status="failed"), True),
        (f.output("x", status="incomplete"), True),
        (f.output("x"), False),
    ],
)
def test_what_says_that_it_failed(fields: dict[str, Any], *, is_failed: bool) -> None:
    assert items.is_failed(item(fields)) == is_failed


def test_pages_of_a_search() -> None:
    action = {"type": "search", "sources": [{"type": "url", "url": "https://a"}, 7]}
    left_out: list[Raw] = []

    assert items.sources(item(f.tool("web_search_call", action=action)), left_out.append) == [
        "https://a"
    ]
    assert left_out == [Raw(b"7")]
    assert items.sources(item(f.tool("web_search_call", action=7)), left_out.append) == []
    assert items.annotation(Raw(b"7")) is None
    assert items.raw_list(Raw(b"7")) == []


def test_parts_of_a_content_and_a_content_that_is_a_text() -> None:
    left_out: list[Raw] = []

    assert items.parts(Raw(b'[{"text":"a"},7]'), left_out.append) == [items.Part(text=Raw(b'"a"'))]
    assert left_out == [Raw(b"7")]
    assert items.parts(Raw(b'"a"'), left_out.append) == [items.Part(text=Raw(b'"a"'))]
    assert items.parts(Raw(b"7"), left_out.append) == []


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({"result": "QQ=="}, "data:image/png;base64,QQ=="),
        ({"result": "QQ==", "output_format": "jpeg"}, "data:image/jpeg;base64,QQ=="),
        ({"result": None}, ""),
    ],
)
def test_a_picture_that_a_call_made(fields: dict[str, Any], url: str) -> None:
    assert items.picture_of(item(f.tool("image_generation_call", **fields))) == url
