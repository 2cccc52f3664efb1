"""Resuming on revision R of the `session-agent` wire, whose `init` repeats the session.

The limits by revision are listed in docs/session-agent.md, each with its test.
"""

from typing import Any

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import plain, receive_frame
from support.session_agent_resumed import (
    NOTHING,
    OTHER,
    busy,
    init_r,
    made,
    prompt,
    texts,
    turn,
)
from turnwire.core.events import (
    AgentStatus,
    Queued,
    Reason,
    TurnFinished,
    TurnStarted,
)
from turnwire.dialects.session_agent import progress


def test_r_tells_the_tools_at_once_and_the_text_up_to_the_last_of_them() -> None:
    """The text after it may lag behind what was told."""
    stream = made()
    parts = [f.text("Let me look."), f.tool("completed", args={"a": 1}, result="x"), f.text("Let")]

    told = receive_frame(stream, init_r(prompt("P1"), turn(*parts, content="Let me look.Let")))

    assert told[0] == TurnStarted(f.TURN)
    assert texts(told) == ["Let me look.", "[c1 completed]"]
    assert stream.accepted


def test_r_withholds_text_until_the_next_snapshot_and_then_follows_exactly() -> None:
    at_first = [f.text("A"), f.tool("completed")]
    stream = made(init_r(prompt("P1"), turn(*at_first, content="A")))

    # "B1" was told before we came. R begins the part after the tool with all that was said.
    assert texts(receive_frame(stream, f.chunk("B2"))) == []
    parts = [f.text("A"), f.tool("completed"), f.text("AB1B2"), f.tool("pending", "c2")]
    told = receive_frame(stream, f.updated(*parts, content="AB1B2"))
    assert texts(told) == ["B1B2", "[c2 pending]"]
    assert texts(receive_frame(stream, f.chunk("C1"), f.chunk("C2"))) == ["C1", "C2"]


def test_r_text_after_the_last_tool_is_told_once_at_the_end() -> None:
    """R's end writes the final text over every text part."""
    stream = made(init_r(prompt("P1"), turn(f.text("A"), f.tool("completed"), content="A")))

    receive_frame(stream, f.chunk("B2"))
    parts = [f.text("B1B2"), f.tool("completed"), f.text("B1B2"), f.END]
    told = receive_frame(stream, f.updated(*parts, content="B1B2"))

    assert texts(told) == ["B1B2", "<end_turn>"]


def test_r_text_between_tools_is_lost_where_the_end_wrote_over_it() -> None:
    """What was said between came and went while it was withheld; the last text is right."""
    stream = made(init_r(prompt("P1"), turn()))

    parts = [f.text("C"), f.tool("completed"), f.text("C"), f.END]
    told = receive_frame(stream, f.updated(*parts, content="C"))

    assert texts(told) == ["[c1 completed]", "C", "<end_turn>"]


def test_r_a_turn_of_text_alone_is_told_at_its_end() -> None:
    stream = made(init_r(prompt("P1"), turn(f.text("He"), content="He")))

    assert texts(receive_frame(stream, f.chunk("llo"))) == []
    assert texts(receive_frame(stream, f.updated(f.text("Hello"), f.END, content="Hello"))) == [
        "Hello",
        "<end_turn>",
    ]


def test_r_of_a_text_that_does_not_add_up_only_the_tools_are_told() -> None:
    parts = [f.text("A"), f.tool("running")]
    stream = made()

    assert texts(receive_frame(stream, init_r(prompt("P1"), turn(*parts, content="Z")))) == [
        "[c1 running]"
    ]

    parts = [f.text("A"), f.tool("completed"), f.text("AB")]
    assert texts(receive_frame(stream, f.updated(*parts, content="AB and more"))) == [
        "[c1 completed]"
    ]
    assert texts(receive_frame(stream, f.chunk("C"))) == []
    parts = [*parts[:2], f.text("AB and moreC"), f.tool("pending", "c2")]
    assert texts(receive_frame(stream, f.updated(*parts, content="AB and moreC"))) == [
        "[c2 pending]"
    ]


def test_r_text_of_parts_that_do_not_go_on_from_each_other_is_told_as_it_is() -> None:
    stream = made(init_r(prompt("P1"), turn()))
    parts = [f.text("A"), f.tool("completed"), f.text("B"), f.tool("pending", "c2")]

    assert texts(receive_frame(stream, f.updated(*parts))) == [
        "A",
        "[c1 completed]",
        "B",
        "[c2 pending]",
    ]


def test_a_snapshot_without_parts_does_not_tell_what_was_said() -> None:
    stream = made(busy("V"), f.chunk("b"))

    assert texts(receive_frame(stream, f.updated(parts=None), f.chunk("c"))) == []
    assert texts(receive_frame(stream, f.done("abc"))) == ["abc", "<end_turn>"]


def test_r_an_abort_of_the_turn_ends_the_stream() -> None:
    stream = made(init_r(prompt("P1"), turn(f.text("A"), content="A")))

    told = receive_frame(stream, f.audit("user.abort"), f.status(runnerBusy=False, aborted=True))

    assert told == [TurnFinished(reason=Reason.CANCELED)]


def test_r_a_question_that_is_open_follows_what_init_told() -> None:
    stream = made(init_r(prompt("P1"), turn(f.text("A"), f.tool("running", name="question"))))

    told = plain(receive_frame(stream, f.asked("R", options=["yes"])))

    assert told == [
        ("Question", {
            "question_id": "q1",
            "payload": b'{"questionId":"q1","text":"Deploy?","options":["yes"]}',
            "approval": None,
            "shown": None,
        })
    ]  # fmt: skip


def test_r_what_comes_before_its_init_is_part_of_it() -> None:
    stream = made()

    assert receive_frame(stream, f.chunk("A"), f.begin("T9"), f.status(runnerConnected=True)) == []
    told = receive_frame(stream, init_r(prompt("P1"), turn()))
    assert told == [TurnStarted(f.TURN)]


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([turn(f.text("old")), prompt("P1")], id="a turn that was aborted before"),
        pytest.param([prompt("P0"), turn(f.END), prompt("P1")], id="a turn that was over before"),
        pytest.param([prompt("P1"), turn(parts={"forwarded": True})], id="a forwarded entry"),
        pytest.param([prompt("P1"), 5, {"id": ""}], id="odd entries"),
    ],
)
def test_r_a_prompt_at_work_whose_turn_has_not_begun(entries: list[f.Fields]) -> None:
    """Nothing of its turn is missing."""
    stream = made(init_r(*entries))

    assert stream.accepted
    assert receive_frame(stream, f.doing("thinking")) == [AgentStatus("thinking")]
    assert texts(receive_frame(stream, f.begin("T2"), f.chunk("a", "T2"), f.done("a", "T2"))) == [
        "a",
        "<end_turn>",
    ]


def test_r_a_prompt_that_fails_without_a_turn_says_so() -> None:
    stream = made(init_r(prompt("P1")), f.failure("No model"))

    assert receive_frame(stream, f.drained("R")) == [
        TurnFinished(reason=Reason.ERROR, error="No model")
    ]


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([prompt("P1", **OTHER), turn(**OTHER)], id="a turn"),
        pytest.param([prompt("P1", **OTHER)], id="a prompt"),
    ],
)
def test_r_another_channel_at_work_is_not_ours_to_tell(entries: list[f.Fields]) -> None:
    assert made().receive_frame(init_r(*entries), 0) == NOTHING


def test_r_where_init_leaves_open_what_is_at_work_a_sign_of_it_is_waited_for() -> None:
    """P2 waited while P1's turn ran, which is over: is P2 at work, or done as well?"""
    over = [prompt("P1"), prompt("P2"), turn(f.END)]
    stream = made(init_r(*over))

    assert not stream.accepted
    assert receive_frame(stream, f.doing("thinking")) == [AgentStatus("thinking")]
    assert stream.accepted
    assert receive_frame(stream, f.begin("T2")) == [TurnStarted("T2")]
    assert texts(receive_frame(stream, f.chunk("a", "T2"))) == ["a"]


def test_r_a_question_shows_that_our_channel_is_at_work() -> None:
    stream = made(init_r(), f.asked("R", "q0").replace(b'"default"', b'"other"'))
    assert not stream.accepted

    receive_frame(stream, f.asked("R"))

    assert stream.accepted


def test_r_a_prompt_that_comes_while_we_look_may_only_wait() -> None:
    stream = made(init_r(), f.user(prompt="P2"))

    assert not stream.accepted


@pytest.mark.parametrize("data", [{"promptsQueued": 1}, {"promptsQueued": 7}])
def test_r_a_prompt_of_our_channel_waits(data: dict[str, int]) -> None:
    stream = made()
    waits = init_r(prompt("P1", **OTHER), turn(**OTHER), prompt("P2"), **data)

    assert receive_frame(stream, waits) == [Queued()]
    assert stream.queued
    assert stream.accepted


def test_r_the_turn_of_the_prompt_that_waits_is_told_when_its_place_has_come() -> None:
    entries = [prompt("P1", **OTHER), turn(**OTHER), prompt("P2", **OTHER), prompt("P3")]
    stream = made(init_r(*entries, prompt("P4"), promptsQueued=3))

    first = f.status(promptDequeued=True, remaining=2)
    assert receive_frame(stream, first, f.begin("T2", **OTHER), f.chunk("x", "T2", **OTHER)) == []
    assert stream.queued
    receive_frame(stream, f.status(promptDequeued=True, remaining=1))
    assert not stream.queued
    assert texts(receive_frame(stream, f.begin("T3"), f.chunk("a", "T3"))) == ["a"]


def test_r_the_prompts_behind_ours_show_that_its_place_has_come_after_a_lost_frame() -> None:
    entries = [prompt("P1", **OTHER), turn(**OTHER), prompt("P2", **OTHER), prompt("P3")]
    stream = made(init_r(*entries, prompt("P4"), promptsQueued=3))

    receive_frame(stream, f.status(promptDequeued=True, remaining=1))

    assert not stream.queued


def test_r_a_queue_that_is_emptied_ends_the_stream() -> None:
    stream = made(init_r(prompt("P1", **OTHER), turn(**OTHER), prompt("P2"), promptsQueued=1))

    told = receive_frame(stream, f.audit("user.abort"))

    assert told == [TurnFinished(reason=Reason.ERROR, error=progress.DROPPED)]


@pytest.mark.parametrize("session", [{"messages": 5}, []])
def test_r_an_odd_history_leaves_only_what_is_seen(session: Any) -> None:
    stream = made(f.frame("init", session=session, data={"runnerBusy": True}))

    told = receive_frame(stream, f.chunk("b"), f.updated(f.text("ab"), f.END))

    assert texts(told) == ["ab", "<end_turn>"]
