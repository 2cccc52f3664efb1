"""Items as the last event, or servers without an index, have them: only what is new is told."""

import json
from typing import Any

import pytest

from support import openai_responses_frames as f
from support.openai_responses_taken import Taken, ended


def test_a_response_that_told_nothing_before_its_end() -> None:
    told = Taken()

    assert ended(told, {"type": "message", "content": [{"text": "all"}]}, 7) == ["all"]
    assert told.stats.left_out == {"item": 1}
    assert len(told.progress.items.all) == 2


@pytest.mark.parametrize(
    ("frames", "output", "added"),
    [
        ([f.text("Hel")], [f.message("Hello")], ["lo"]),
        ([f.text("a"), f.text_done("a")], [f.message("a"), f.message("b")], ["TextBreak", "b"]),
        ([f.text("a")], [f.call("c1"), f.output("x"), f.message("a", id="m9")], None),
        (f.whole_call(), [f.call(args="{}"), f.output("x")], ["completed"]),
        ([f.added(f.call())], [f.call(args="{}")], ["running"]),
        (f.whole_call(index=0), [f.call("c9", args="{}")], []),
        ([f.added(f.tool("mcp_call"))], [f.tool("mcp_call", output="x")], ["running", "completed"]),
        ([f.summary("hm")], [{"type": "reasoning", "summary": [{"text": "hm"}]}], []),
        ([f.thought("hm", 3)], [{"type": "reasoning", "summary": [{"text": "hm"}]}], []),
        ([f.text("abc")], [f.message("xyz")], []),
    ],
)
def test_the_list_of_all_items_adds_what_is_new(
    frames: list[bytes], output: list[Any], added: list[str] | None
) -> None:
    told = Taken(*frames)

    assert ended(told, *output) == (
        added if added is not None else ["pending", "running", "completed"]
    )
    assert told.stats.left_out in ({}, {"contradicted text": 1})


def test_the_items_of_the_list_are_kept_once() -> None:
    empty, asks = f.message(""), f.asks()
    told = Taken(f.item_done(empty, 0), f.added(asks))
    ended(told, empty)
    alone = Taken(f.text("a"))
    ended(alone, f.message("a"))

    assert [json.loads(item) for item in told.progress.items.all] == [empty, asks]
    assert [json.loads(item) for item in alone.progress.items.all] == [f.message("a")]


def test_an_empty_output_that_is_only_added_is_awaited() -> None:
    outputs: list[Any] = ["", None, []]
    for empty in outputs:
        told = Taken(*f.whole_call(), f.added(f.output(empty), 2))
        assert told.brief[-1] == "running"
        assert told.progress.calls.open_ids == ["c1"]
    told = Taken(*f.whole_call(), f.added(f.output(""), 2), f.item_done(f.output("sunny"), 2))
    assert told.events[-1][1]["result"] == '"sunny"'
    assert Taken(*f.whole_call(), f.added(f.output("", status="failed"), 2)).brief[-1] == "error"
