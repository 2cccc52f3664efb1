"""What each event of a run tells, in the order in which it comes."""

import json
from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_turn import plain, protocol
from turnwire.core.events import Phase
from turnwire.dialects.ag_ui.content.progress import SUBAGENTS_MAX
from turnwire.dialects.ag_ui.content.results import HELD_S


def events_of(*frames: bytes) -> Any:
    """What the last of these events tells."""
    return plain(protocol(*frames[:-1]).receive_frame(frames[-1], 0))


def status(word: str, detail: str | None = None) -> Any:
    return [("AgentStatus", {"status": word} | ({"detail": detail} if detail else {}))]


CALLED: list[Any] = [
    ("ToolUpdate", {"call_id": "c1", "tool_name": "x", "phase": Phase.RUNNING, "args": "{}"}),
    ("TextDelta", {"text": "a"}),
]
TEXT_BREAK: list[Any] = [("TextBreak", {})]


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([f.text_start()], []),
        ([f.text("a")], "a"),
        ([f.text_start(role="assistant"), f.text("a")], "a"),
        ([f.text("a"), f.text("b")], "b"),
        ([f.text("a"), f.text("")], None),
        ([f.text("")], None),
        ([f.text("a"), f.text_end()], TEXT_BREAK),
        ([f.text_start(), f.text_end()], []),
        (
            [f.text("a"), f.text("b", "m2")],
            [("TextSwitch", {"left": "m1", "entered": "m2"}), ("TextDelta", {"text": "b"})],
        ),
        ([f.text("a"), f.text_end(), f.text("b", "m2")], "b"),
        ([f.text_start(role="user"), f.text("a")], []),
        ([f.thought("hm")], [("ReasoningDelta", {"text": "hm"})]),
        ([f.thought("hm"), f.thought_end()], TEXT_BREAK),
        ([f.event("REASONING_MESSAGE_START", messageId="r1")], []),
        ([f.event("THINKING_TEXT_MESSAGE_START")], []),
        (
            [f.event("THINKING_TEXT_MESSAGE_CONTENT", delta="hm")],
            [("ReasoningDelta", {"text": "hm"})],
        ),
        (
            [
                f.event("THINKING_TEXT_MESSAGE_CONTENT", delta="hm"),
                f.event("THINKING_TEXT_MESSAGE_END"),
            ],
            TEXT_BREAK,
        ),
        ([f.event("REASONING_END", messageId="r1")], []),
        ([f.event("STEP_STARTED", stepName="agent")], status("step_started", "agent")),
        ([f.event("STEP_FINISHED", stepName="agent")], status("step_finished", "agent")),
        (
            [f.event("SUBAGENT_STARTED", subagentRunId="s", name="writer")],
            status("subagent_started", "writer"),
        ),
        ([f.event("SUBAGENT_FINISHED", subagentRunId="s")], status("subagent_finished")),
        ([f.event("SUBAGENT_ERROR", subagentRunId="s")], status("subagent_error")),
        ([f.text_chunk(messageId="m1", delta="a")], "a"),
        ([f.text_chunk(messageId="m1", delta="a"), f.text_chunk(delta="b")], "b"),
        ([f.text_chunk(delta="whose?")], []),
        (
            [f.text_chunk(messageId="m1", delta="a"), f.text("b", "m2"), f.text_chunk(delta="c")],
            [],
        ),
        ([f.call_chunk(toolCallId="c1", toolCallName="x", delta="{}"), f.text("a")], CALLED),
        ([f.call_chunk(toolCallId="c1")], []),
        ([f.custom("progress", 1)], []),
        ([f.raw()], ""),
        ([f.snapshot(f.user(), f.assistant("other words"))], []),
    ],
)
def test_an_event_tells(frames: list[bytes], expected: Any) -> None:
    assert events_of(*frames) == expected


def test_a_late_end_of_reasoning_does_not_cut_the_text() -> None:
    assert events_of(f.thought("hm"), f.text("a"), f.thought_end()) == []


def test_a_late_end_of_text_does_not_cut_the_reasoning() -> None:
    assert events_of(f.text("a"), f.thought("hm"), f.text_end()) == []


@pytest.mark.parametrize(
    ("kind", "fields", "word", "detail"),
    [
        ("SUBAGENT_FINISHED", {}, "subagent_finished", "writer"),
        ("SUBAGENT_ERROR", {"message": "it broke"}, "subagent_error", "writer: it broke"),
    ],
)
def test_a_subagent_is_named_to_its_end(
    kind: str, fields: dict[str, Any], word: str, detail: str
) -> None:
    begun = f.event("SUBAGENT_STARTED", subagentRunId="s", name="writer")

    assert events_of(begun, f.event(kind, subagentRunId="s", **fields)) == status(word, detail)


def test_the_names_of_subagents_are_bounded_in_number() -> None:
    many = [
        f.event("SUBAGENT_STARTED", subagentRunId=f"s{number}", name="x")
        for number in range(SUBAGENTS_MAX + 1)
    ]

    assert events_of(*many, f.event("SUBAGENT_FINISHED", subagentRunId="s0")) == status(
        "subagent_finished"
    )


def outcome(told: Any) -> tuple[str, Any]:
    """The phase of the last call that was told, and its result or error."""
    _, fields = told[-1]
    return fields["phase"].value, fields.get("result", fields.get("error"))


CALL = f.whole_call()


def test_a_result_waits_for_the_mark_of_its_failure() -> None:
    assert events_of(*CALL, f.result("no")) == []
    assert outcome(events_of(*CALL, f.result("no"), f.mark())) == ("error", "no")
    assert outcome(events_of(*CALL, f.result("no"), f.mark("denied"))) == ("error", "no")


@pytest.mark.parametrize(
    "after",
    [f.text("a"), f.event("STEP_FINISHED", stepName="x"), f.mark(message="t9"), f.call("c2")],
)
def test_any_other_event_shows_that_no_mark_comes(after: bytes) -> None:
    events = events_of(*CALL, f.result("fine"), after)

    assert outcome(events[:1]) == ("completed", '"fine"')


def test_a_result_does_not_wait_for_long() -> None:
    asked = protocol(*CALL)
    asked.receive_frame(f.result("fine"), 7.0)

    assert asked.deadline == 7.0 + HELD_S
    assert asked.tick(7.0).events == ()
    assert outcome(plain(asked.tick(7.0 + HELD_S))) == ("completed", '"fine"')
    assert asked.deadline > 1e9
    assert asked.tick(8.0).events == ()


def test_a_failure_without_words_has_a_sentence() -> None:
    events = events_of(*CALL, f.result([]), f.mark())

    assert outcome(events) == ("error", "Tool execution failed")


def test_a_result_before_the_end_of_its_call_completes_the_input() -> None:
    events = events_of(f.call(), f.args('{"a":1}'), f.result("1"))

    assert events[-1][1]["args"] == '{"a":1}'


def test_a_second_result_is_nothing() -> None:
    assert events_of(*CALL, f.result("1"), f.text("a"), f.result("2")) == []


def test_files_of_a_result_come_with_it() -> None:
    parts = [{"type": "image", "source": {"type": "url", "value": "https://a.example/x"}}]

    events = events_of(*CALL, f.result(parts), f.text("a"))

    assert [name for name, _ in events] == ["FilePart", "ToolUpdate", "TextDelta"]


def test_a_snapshot_has_the_results_that_no_event_told() -> None:
    events = events_of(*CALL, f.snapshot(f.user(), f.assistant("", c1="{}"), f.tool("21")))

    assert outcome(events) == ("completed", '"21"')


def test_a_snapshot_may_say_that_a_call_failed() -> None:
    events = events_of(*CALL, f.snapshot(f.tool("text", error="it broke")))

    assert outcome(events) == ("error", "it broke")


def test_a_snapshot_has_the_input_that_no_event_told() -> None:
    begun = [f.call(), f.call_end()]

    ((_, fields),) = events_of(*begun, f.snapshot(f.assistant("", c1='{"a":1}')))

    assert fields["args"] == '{"a":1}'


def test_a_state_has_the_input_that_no_event_told() -> None:
    state = {"messages": [{"tool_calls": [{"id": "c1", "args": {"a": 1}}]}]}
    snapshot = f.event("STATE_SNAPSHOT", snapshot=state)

    ((_, fields),) = events_of(f.call(), f.call_end(), snapshot)
    assert json.loads(fields["args"]) == {"a": 1}
    assert events_of(*CALL, snapshot) == []


def test_an_event_of_the_framework_has_the_input_that_no_event_told() -> None:
    answer = {"output": {"tool_calls": [{"id": "c1", "args": {"a": 1}}]}}
    raw = f.event("RAW", event={"event": "on_chat_model_end", "data": answer})

    ((_, fields),) = events_of(f.call(), f.args('": 1}'), f.call_end(), raw)
    assert json.loads(fields["args"]) == {"a": 1}
    assert events_of(*CALL, raw) == ""


def test_an_input_that_nobody_told_well_is_a_text_at_the_end() -> None:
    events = events_of(f.call(), f.args('": 1}'), f.call_end(), f.finished())

    assert json.loads(events[0][1]["args"]) == '": 1}'


def test_a_snapshot_says_nothing_of_calls_that_are_not_open() -> None:
    assert events_of(*CALL, f.snapshot(f.tool("x", "c9"))) == []


def test_other_text_in_a_snapshot_is_counted_and_never_told() -> None:
    asked = protocol(f.text("told"), f.text_end())

    assert plain(asked.receive_frame(f.snapshot(f.user(), f.assistant("")), 0)) == []
    asked.receive_frame(f.snapshot(f.user(), f.assistant("told"), f.assistant("x", "m9")), 0)

    assert asked.frame_stats.left_out == {"contradicted text": 1}


def test_a_snapshot_in_the_middle_of_a_text_contradicts_nothing() -> None:
    asked = protocol(f.text("to"))

    asked.receive_frame(f.snapshot(f.user(), f.assistant("")), 0)

    assert asked.frame_stats.left_out == {}


def test_encrypted_reasoning_is_counted() -> None:
    asked = protocol(f.mark())

    assert asked.frame_stats.left_out == {"REASONING_ENCRYPTED_VALUE": 1}


def test_events_of_an_agents_own_are_counted_by_name() -> None:
    asked = protocol(f.custom("progress", 1), f.custom("my text", 2), f.raw())

    assert asked.frame_stats.left_out == {"CUSTOM progress": 1, "CUSTOM (odd)": 1, "RAW": 1}


def test_reasoning_that_is_told_again_inside_of_text_does_not_cut_it() -> None:
    asked = protocol(f.thought("I see."), f.thought_end(), f.text("a"))

    assert plain(asked.receive_frame(f.thought("I see.", "r2"), 0)) == []
    assert plain(asked.receive_frame(f.thought_end("r2"), 0)) == []
    assert asked.receive_frame(f.text("b"), 0) == "b"
    assert asked.frame_stats.doubled == 1


@pytest.mark.parametrize(("count", "asked"), [(64, 64), (65, 0), (70, 0)])
def test_of_more_interrupts_than_can_be_asked_none_is_and_the_turn_fails(
    count: int, asked: int
) -> None:
    asks = [{"id": f"a{number}"} for number in range(count)]
    many = [f.custom("function_approval_request", each) for each in asks]
    told = protocol(f.text("a"), *many)

    events = plain(told.receive_frame(f.finished(), 0))

    names = [name for name, _ in events]
    assert (names.count("Question"), names.count("TurnFinished")) == (asked, int(not asked))
    assert told.frame_stats.left_out == ({} if asked else {"interrupt": count - 64})
