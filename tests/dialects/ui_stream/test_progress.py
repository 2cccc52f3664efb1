"""What chunks tell: text, reasoning, files, sources, data."""

from typing import Any

import pytest

from support import ui_chunks as f
from support.ui_stream_turn import Played, protocol
from turnwire.core.events import TextDelta
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.ui_stream.frames import TextDelta as TextFrame
from turnwire.dialects.ui_stream.progress import DATA_BYTES_MAX, DENIED, Progress
from turnwire.dialects.ui_stream.transcript import Transcript


def shown(*frames: bytes, **given: Any) -> list[Any]:
    """The chunks of these frames, without those that begin and end the turn."""
    return list(Played(f.start(), *frames, **given).chunks)[2:]


def kinds(*frames: bytes) -> list[str]:
    return [chunk["type"] for chunk in shown(*frames)]


def test_two_texts_are_two_blocks() -> None:
    frames = (f.text_start(), f.text("a"), f.text("b"), f.text("c", "t2"), f.text("d"))
    chunks = shown(*frames, f.text_end("t2"), f.text_end())

    assert [(chunk["type"], chunk.get("delta", chunk["id"])) for chunk in chunks] == [
        *(("text-start", "run-1:t0"), ("text-delta", "a"), ("text-delta", "b")),
        *(("text-start", "run-1:t1"), ("text-delta", "c"), ("text-delta", "d")),
        *(("text-end", "run-1:t1"), ("text-end", "run-1:t0")),
    ]


def test_two_thoughts_at_once_are_two_blocks() -> None:
    chunks = shown(f.thought("a", "r1"), f.thought("b", "r2"), f.thought("c", "r1"))

    assert [(chunk["id"], chunk.get("delta")) for chunk in chunks] == [
        *(("run-1:r0", None), ("run-1:r0", "a"), ("run-1:r1", None), ("run-1:r1", "b")),
        ("run-1:r0", "c"),
    ]


def test_a_step_ends_all_texts_that_are_open() -> None:
    assert kinds(f.text("a"), f.text("b", "t2"), f.step_end(), f.text("c"))[4:] == [
        *("text-end", "text-end", "text-start", "text-delta")
    ]


def test_text_ends_where_the_agent_ends_it() -> None:
    assert kinds(f.text("a"), f.text_end("other"), f.text_end(), f.text_end(), f.text("b"))[2:] == [
        *("text-end", "text-start", "text-delta")
    ]


def test_reasoning_and_text_take_turns() -> None:
    assert kinds(
        f.chunk("reasoning-start", id="r1"), f.thought("a"), f.text("b"), f.thought_end()
    ) == [
        *("reasoning-start", "reasoning-delta", "reasoning-end", "text-start", "text-delta"),
    ]
    assert kinds(f.thought("a"), f.thought_end())[-1] == "reasoning-end"


def test_a_delta_without_a_beginning_and_without_an_id_is_shown() -> None:
    assert kinds(f.chunk("text-delta", delta="a")) == ["text-start", "text-delta"]


@pytest.mark.parametrize("empty", [f.text(""), f.thought(""), f.text_start(), f.step()])
def test_what_is_empty_is_no_bubble(empty: bytes) -> None:
    assert shown(empty) == []


@pytest.mark.parametrize("break_", [f.step(), f.step_end(), f.chunk("reset-step")])
def test_a_step_ends_a_text(break_: bytes) -> None:
    assert kinds(f.text("a"), break_, f.text("b")).count("text-start") == 2


@pytest.mark.parametrize(
    "between", [f.step_end(), f.chunk("reset-step"), f.thought("hm"), f.text_end()]
)
def test_what_ends_a_text_ends_it_for_the_next_request_too(between: bytes) -> None:
    asked = (f.given("c1"), f.ask("a1", "c1"), f.finish())
    played = Played(f.start(), f.text("a"), between, f.text("b"), *asked).leave()
    (message,) = played.reply("a1", answer=True).requests[1]["messages"][1:]

    assert [part["text"] for part in message["parts"] if "text" in part] == ["a", "b"]


def test_in_the_next_response_no_text_of_the_last_one_is_open() -> None:
    progress = Progress(FrameStats(), Transcript("m1"))
    for block_id in ("t1", "t2"):
        progress.take(TextFrame(id=block_id, delta="a"), 1)
    progress.next_response()

    assert progress.fast_id is None
    assert progress.take(TextFrame(id="t1", delta="b"), 1) == [TextDelta("b")]


def test_a_call_that_is_refused_has_its_input_and_an_error() -> None:
    chunks = shown(f.call(), f.refused(error={"message": "no such city"}))

    assert [chunk["type"] for chunk in chunks] == [
        *("tool-input-start", "tool-input-available", "tool-output-error")
    ]
    assert (chunks[1]["input"], chunks[2]["errorText"]) == ({"a": 1}, "no such city")


def test_a_denied_call_is_an_error() -> None:
    assert shown(f.given(), f.denied())[-1]["errorText"] == DENIED


def test_every_tool_chunk_says_that_the_provider_executed_it() -> None:
    chunks = shown(f.call(), f.given(), f.output(), f.given("c2"), f.failed("x", "c2"))

    assert all(chunk["providerExecuted"] for chunk in chunks)


def test_a_preliminary_output_is_replaced_by_the_last_one() -> None:
    chunks = shown(f.given(), f.output("1", preliminary=True), f.output("2"))

    assert [chunk.get("output") for chunk in chunks] == [None, "2"]


def test_sources_and_files() -> None:
    source = f.chunk("source-url", sourceId="s1", url="https://a.example", title="A")
    nameless = f.chunk("source-url", url="https://b.example")
    file = f.chunk("file", url="data:image/png;base64,QUJD", mediaType="image/png")

    assert shown(source, nameless, file) == [
        {"type": "source-url", "sourceId": "s1", "url": "https://a.example", "title": "A"},
        {"type": "source-url", "sourceId": "https://b.example", "url": "https://b.example"},
        {"type": "file", "url": "data:image/png;base64,QUJD", "mediaType": "image/png"},
    ]


def test_data_parts_keep_their_names_and_ids() -> None:
    parts = (f.data("weather", {"t": 1}, id="w"), f.data("weather", None), f.data("x", 1))

    assert shown(*parts, f.data("x", 2, transient=True)) == [
        {"type": "data-weather", "data": {"t": 1}, "id": "w"},
        {"type": "data-weather", "data": None},
        {"type": "data-x", "data": 1},
        {"type": "data-x", "data": 2, "transient": True},
    ]


@pytest.mark.parametrize(
    ("part", "word"),
    [
        (f.data("x", "y" * DATA_BYTES_MAX), "data part that is too large"),
        (f.data("odd name", 1), "data part with a name of no client"),
        (f.chunk("source-document", sourceId="s"), "source-document"),
        (f.chunk("message-metadata", messageMetadata={}), "message-metadata"),
        (f.ask(isAutomatic=True), "automatic approval"),
        (f.chunk("tool-approval-request", isAutomatic=True), "automatic approval"),
        (
            f.chunk("source-url", sourceId="s1", url="javascript:alert(1)"),
            "source-url with a URL that no client is sent",
        ),
        (
            f.chunk("source-url", url="ftp://a.example"),
            "source-url with a URL that no client is sent",
        ),
        (
            f.chunk("file", url="javascript:alert(1)", mediaType="image/png"),
            "file with a URL that no client is sent",
        ),
        (
            f.chunk("file", url="/relative.png", mediaType="image/png"),
            "file with a URL that no client is sent",
        ),
        (f.chunk("reset-step"), "reset-step"),
    ],
)
def test_what_is_not_shown_is_counted(part: bytes, word: str) -> None:
    made = protocol(f.start(), part)

    assert shown(part) == []
    assert made.frame_stats.left_out == {word: 1}
    assert made.frame_stats.left_out_bytes > 0


@pytest.mark.parametrize("name", ["question", "agent-status"])
def test_no_agent_writes_the_gateways_own_parts(name: str) -> None:
    assert shown(f.data(name, {"state": "open"}, id="q1")) == []


@pytest.mark.parametrize(("metadata", "count"), [({}, 0), ({"providerMetadata": {"p": {}}}, 1)])
def test_what_the_models_host_wants_back_of_reasoning_is_counted(
    metadata: dict[str, Any], count: int
) -> None:
    turn = Played(f.start(), f.chunk("reasoning-end", id="r1", **metadata), f.finish())

    assert sum(turn.protocol.frame_stats.left_out.values()) == count
