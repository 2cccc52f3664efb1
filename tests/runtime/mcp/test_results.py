"""A result of MCP is a text, a JSON value, or parts with pictures: bounded, and nothing is lost."""

import base64
from typing import Any

import pytest

from turnwire_agent.mcp.errors import ProtocolError
from turnwire_agent.mcp.results import result_of
from turnwire_agent.mcp.settings import Bounds
from turnwire_agent.tools.contract import Media, Output, ToolFailed

BOUNDS = Bounds()
PIXEL = base64.b64encode(b"pixel").decode()
IMAGE = {"type": "image", "mimeType": "image/png", "data": PIXEL}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def result(*content: Any, structured: bool = False, bounds: Bounds = BOUNDS, **others: Any) -> Any:
    return result_of({"content": list(content), **others}, bounds, structured=structured)


def test_texts_are_joined() -> None:
    assert result(text("one"), text("two")) == "one\ntwo"
    assert result() == ""


def test_images_stay_images_after_the_text() -> None:
    png = Media("image/png", b"pixel")

    assert result(IMAGE, text("one"), text("two")) == Output(("one\ntwo", png))
    assert result(IMAGE) == Output((png,))


def test_structured_content_is_preferred_where_the_tool_has_an_output_schema() -> None:
    twice: dict[str, Any] = {"structuredContent": {"sum": 3}}

    assert result(text('{"sum":3}'), structured=True, **twice) == {"sum": 3}
    assert result(text("three"), **twice) == "three"
    assert result(text("three"), structured=True) == "three"
    png = Media("image/png", b"pixel")
    assert result(text("x"), IMAGE, structured=True, **twice) == Output(('{"sum":3}', png))


def test_resources_are_text_but_for_images() -> None:
    link = {"type": "resource_link", "uri": "demo://1", "name": "One"}
    full = {**link, "title": "First", "mimeType": "text/plain", "description": "of all"}
    blob = {"uri": "demo://2", "mimeType": "application/gzip", "blob": PIXEL}
    image = {"uri": "demo://3", "mimeType": "image/gif", "blob": PIXEL}

    assert result(link) == "One <demo://1>"
    assert result(full) == "First <demo://1> (text/plain): of all"
    assert result({"type": "resource", "resource": {"uri": "demo://1", "text": "in"}}) == "in"
    assert result({"type": "resource", "resource": blob}) == (
        "[application/gzip was left out] <demo://2>"
    )
    assert result({"type": "resource", "resource": {"uri": "demo://4"}}) == (
        "[application/octet-stream was left out] <demo://4>"
    )
    assert result({"type": "resource", "resource": image}) == Output(
        (Media("image/gif", b"pixel"),)
    )


def test_what_is_not_known_is_named() -> None:
    assert result(text("one"), {"type": "audio", "data": "AA=="}) == (
        "one\n[content of the type 'audio' was left out]"
    )
    assert result({"type": "resource"}) == "[content of the type 'resource' was left out]"


def test_a_failure_is_shown_as_it_is_written() -> None:
    with pytest.raises(ToolFailed, match=r"^no such city$"):
        result(text("no such city"), isError=True, structuredContent={"a": 1}, structured=True)
    with pytest.raises(ToolFailed, match="does not say why"):
        result(isError=True)


@pytest.mark.parametrize(
    "answer",
    [
        {"content": 5},
        {"content": ["text"]},
        {"content": [{"type": "image", "mimeType": "image/png", "data": "?"}]},
        {"content": [{"type": "image", "mimeType": "image/png"}]},
    ],
)
def test_what_is_no_content_is_a_fault_of_the_protocol(answer: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        result_of(answer, BOUNDS, structured=False)


def test_long_texts_are_cut_and_say_so() -> None:
    bounds = Bounds(result_chars=10)

    assert result(text("x" * 10), bounds=bounds) == "x" * 10
    cut = "x" * 10 + "\n[5 more characters were left out]"
    assert result(text("x" * 15), bounds=bounds) == cut
    with pytest.raises(ToolFailed) as failed:
        result(text("x" * 15), bounds=bounds, isError=True)
    assert str(failed.value) == cut
    value: dict[str, Any] = {"structuredContent": {"long": "x" * 10}}
    assert result(bounds=bounds, structured=True, **value) == (
        '{"long":"x\n[11 more characters were left out]'
    )


def test_large_pictures_are_left_out_and_counted() -> None:
    bounds = Bounds(media_bytes=9)

    assert result(IMAGE, IMAGE, bounds=bounds) == Output(
        ("[image/png of 5 bytes was left out: too large]", Media("image/png", b"pixel"))
    )
