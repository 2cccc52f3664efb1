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
        (f.output([{"type": "input_file"}, 7]), '""', ()),
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


@pytest.mark.parametrize(
    ("fields", "is_failed"),
    [
        (f.tool("mcp_call", error="no"), True),
        (f.tool("mcp_call", error=None), False),
        (f.tool("mcp_call", status="failed"), True),
        (f.output("x", status="incomplete"), True),
        (f.output("x"), False),
    ],
)
def test_what_says_that_it_failed(fields: dict[str, Any], *, is_failed: bool) -> None:
    assert items.is_failed(item(fields)) == is_failed


def test_pages_of_a_search_and_of_a_text() -> None:
    action = {"type": "search", "sources": [{"type": "url", "url": "https://a"}, 7]}
    (part,) = items.parts(Raw(b'[{"annotations":[{"type":"url_citation","url":"https://b"},7]}]'))

    assert items.sources(item(f.tool("web_search_call", action=action))) == ["https://a"]
    assert items.sources(item(f.tool("web_search_call", action=7))) == []
    assert [each.url for each in items.annotations(part)] == ["https://b"]
    assert items.annotation(Raw(b"7")) is None
    assert items.raw_list(Raw(b"7")) == []
