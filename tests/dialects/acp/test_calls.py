"""The states of a call, told as far as they change."""

import tracemalloc
from typing import Any

import pytest

from support import acp_messages as f
from support.acp_turn import begun
from turnwire.dialects.acp import calls
from turnwire.dialects.acp.calls import (
    INPUT_MAX,
    OF_A_PAST_CALL,
    OF_NO_CALL,
    OPEN_MAX,
    OUTPUT_MAX,
    TOO_LONG,
    TOOL_FAILED,
)

LS = {"command": "ls"}


def seen(*messages: bytes) -> list[Any]:
    return begun(*messages).of_call()


def test_a_call_from_its_beginning_to_its_output() -> None:
    chunks = seen(
        f.call(rawInput={}),
        f.state(rawInput=LS, title="ls"),
        f.state("completed", content=f.shown("a.txt"), rawOutput={"output": "a.txt"}),
    )

    assert [chunk["type"] for chunk in chunks] == [
        *("tool-input-start", "tool-input-available", "tool-output-available")
    ]
    assert [chunk.get("toolName") for chunk in chunks[:2]] == ["execute", "execute"]
    assert (chunks[1]["input"], chunks[2]["output"]) == (LS, {"output": "a.txt"})


def test_a_title_is_a_status_and_no_name_of_a_tool() -> None:
    played = begun(f.call(title="Reading all of it", kind=None))

    status = next(c["data"] for c in played.chunks if c["type"] == "data-agent-status")
    assert status == {"status": "tool_call", "detail": "Reading all of it"}
    assert played.of_call()[0]["toolName"] == "tool"


def test_a_call_that_is_told_when_it_is_over() -> None:
    chunks = seen(f.call(status="completed", rawInput=LS, content=f.shown("a")))

    assert (chunks[0]["input"], chunks[-1]["output"]) == (LS, "a")


def test_the_input_counts_once_the_call_runs() -> None:
    chunks = seen(f.call(rawInput={"com": "l"}), f.state(None, rawInput=LS), f.state())

    assert [chunk.get("input") for chunk in chunks] == [None, LS]


def test_a_call_that_runs_waits_for_its_input() -> None:
    late = seen(f.call(status="in_progress"), f.state(), f.state(None, rawInput=LS))
    assert [chunk.get("input") for chunk in late] == [None, LS]

    never = seen(f.call(), f.state(rawInput={}), f.state(content=f.shown("a")))
    assert [chunk.get("input") for chunk in never] == [None, {}]

    at_the_end = seen(f.call(), f.state(), f.state("completed", rawInput=LS))
    assert at_the_end[1]["input"] == LS


def test_an_update_behind_the_end_of_a_call_makes_no_other_card() -> None:
    over = (f.call(), f.state("completed"))
    late = (f.state(None, _meta={}), f.state(), f.state("completed", content=f.shown("b")))
    played = begun(*over, *late)

    assert played.written == begun(*over).written
    assert played.protocol.frame_stats.left_out == {OF_A_PAST_CALL: 3}


def test_an_agent_may_use_the_id_of_a_call_again() -> None:
    played = begun(f.call(), f.state("completed"), f.call(), f.state("completed", rawOutput=2))

    assert (played.chunks[-1]["toolCallId"], played.chunks[-1]["output"]) == ("c1#2", 2)


def test_an_update_of_an_unknown_call_is_one_if_it_has_a_status() -> None:
    played = begun(f.state(None, rawInput=LS))
    assert (played.of_call(), played.protocol.frame_stats.left_out) == ([], {OF_NO_CALL: 1})

    assert seen(f.state("in_progress", rawInput=LS))[-1]["input"] == LS


def test_all_open_calls_together_have_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "CALLS_BYTES_MAX", 30)
    played = begun(
        *(f.call("a", rawInput=LS), f.call("b", rawInput=LS)),
        *(f.state(call_id="a"), f.state(call_id="b"), f.state("completed", "a")),
        *(f.state("completed", "b"), f.call("c", rawInput=LS), f.state(call_id="c")),
    )

    inputs = [played.of_call(each)[1]["input"] for each in "abc"]
    assert inputs == [LS, "(too long)", LS]
    assert played.protocol.frame_stats.left_out == {TOO_LONG: 1}


def test_no_frame_is_kept_for_a_part_of_it() -> None:
    protocol = begun().protocol
    tracemalloc.start()
    try:
        for number in range(20):
            frame = f.call(f"c{number}", rawInput=LS, _meta={"x": "y" * 1_000_000})
            protocol.receive_frame(frame, 0)
        del frame
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert held < 500_000


def test_an_output_before_the_end_is_the_output_if_no_other_comes() -> None:
    chunks = seen(f.call(), f.state(content=f.shown("a")), f.state("completed"))

    assert chunks[-1]["output"] == "a"


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ({}, None),
        ({"rawOutput": None}, None),
        ({"content": []}, None),
        ({"content": f.shown("a") + f.shown("b")}, "ab"),
        ({"content": [{"type": "diff", "path": "/a", "newText": "x"}]}, ...),
        ({"content": f.shown("a"), "rawOutput": 7}, 7),
    ],
)
def test_outputs(output: Any, shown: Any) -> None:
    expected = output["content"] if shown is ... else shown

    assert seen(f.call(), f.state("completed", **output))[-1]["output"] == expected


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ({}, TOOL_FAILED),
        ({"content": f.shown("no such file")}, "no such file"),
        ({"content": f.shown("")}, TOOL_FAILED),
        ({"rawOutput": {"error": "denied"}}, "denied"),
        ({"rawOutput": {"output": "exit 3"}}, "exit 3"),
        ({"rawOutput": {"a": 1}}, TOOL_FAILED),
        ({"rawOutput": [1]}, TOOL_FAILED),
    ],
)
def test_failures(output: Any, error: str) -> None:
    chunk = seen(f.call(), f.state("failed", **output))[-1]

    assert (chunk["type"], chunk["errorText"]) == ("tool-output-error", error)


def test_what_is_too_long_is_shown_and_not_kept() -> None:
    long, longer = {"x": "y" * INPUT_MAX}, "z" * OUTPUT_MAX
    chunks = seen(f.call(rawInput=long), f.state(content=f.shown(longer)), f.state("completed"))

    assert (chunks[1]["input"], chunks[-1]["output"]) == ("(too long)", None)
    assert seen(f.call(), f.state(rawInput=long))[-1]["input"] == long


def test_of_very_many_calls_the_oldest_is_forgotten() -> None:
    calls = begun(*(f.call(f"c{number}") for number in range(OPEN_MAX + 1)))

    assert calls.tell(f.state("completed", "c0")).of_call("c0")[-1]["output"] is None
