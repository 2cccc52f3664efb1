"""What the sockets of a session are sent of each event."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from msgspec import UNSET, Raw

from runtime.session.session_facts import folded
from turnwire.dialects.v2.frames import AgentStatus
from turnwire_agent.llm.events import Usage
from turnwire_agent.llm.transcript import Assistant, Outcome, Text
from turnwire_agent.session import deltas as d
from turnwire_agent.session import events as e
from turnwire_agent.v2 import frames as frames_module
from turnwire_agent.v2.frames import PONG, Frames, joined, refused, tokens

Json = dict[str, Any]

BEGUN: tuple[e.Event, ...] = (
    e.Prompted(entry_id="e1", prompt_id="p1", user_id="ann", content="hi"),
    e.TurnBegun(turn_id="t1", entry_id="e1"),
)
CALL = {"turnId": "t1", "callId": "c1", "toolName": "bash"}
UPDATE = {"type": "message.part.tool-update", **CALL}
PIECE = {"type": "message.part.tool-input-delta", **CALL}
SECRET = Raw(b'{"token":"canary","path":"a"}')
SHOWN = {"token": "(hidden)", "path": "a"}
RUN = e.CallBegun(turn_id="t1", call_id="c1", tool="bash", key="k", effect="safe", input=SECRET)
ASKED = e.QuestionAsked(
    turn_id="t1",
    question_id="q1",
    text="May bash run?",
    options=("approve", "deny"),
    expires_at=1.5,
    call_id="c1",
    tool="bash",
    input=SECRET,
)
QUESTION = {
    "type": "question",
    "questionId": "q1",
    "turnId": "t1",
    "text": "May bash run?",
    "options": ["approve", "deny"],
    "expiresAt": 1500,
    "kind": "approval",
    "callId": "c1",
    "toolName": "bash",
    "args": SHOWN,
}


def secrets(tool: str) -> frozenset[str]:
    return frozenset({"token"}) if tool == "bash" else frozenset()


def of(
    event: e.Event, before: Iterable[e.Event] = BEGUN, frames: Frames | None = None
) -> list[Json]:
    """The frames of an event in a session that has had the events before it."""
    writer = frames or Frames(secrets)
    return [json.loads(frame) for frame in writer.of(event, folded(before))]


def streamed(*deltas: d.Delta) -> e.Streamed:
    return e.Streamed("t1", deltas)


def ended(outcome: Outcome = "done", **fields: Any) -> e.CallEnded:
    about: Json = {"turn_id": "t1", "call_id": "c1", "tool": "bash"}
    return e.CallEnded(**about, outcome=outcome, **fields)


@pytest.mark.parametrize(
    ("delta", "frame"),
    [
        (d.TextAdded("a"), {"type": "message.part.text-delta", "delta": "a"}),
        (d.ReasoningAdded("a"), {"type": "message.part.reasoning-delta", "delta": "a"}),
        (
            d.FileAdded("a/b", "data:,x"),
            {"type": "message.part.file", "mime": "a/b", "url": "data:,x"},
        ),
        (
            d.FileAdded("a/b", "data:,x", "f"),
            {"type": "message.part.file", "mime": "a/b", "url": "data:,x", "filename": "f"},
        ),
        (
            d.SourceAdded("s1", "https://a.example/", "A"),
            {
                "type": "message.part.source",
                "sourceId": "s1",
                "url": "https://a.example/",
                "title": "A",
            },
        ),
        (
            d.DataSet("state", Raw(b"null")),
            {"type": "message.part.data", "dataName": "state", "value": None},
        ),
        (
            d.DataSet("state", Raw(b"[1]"), "d1", transient=True),
            {
                "type": "message.part.data",
                "dataName": "state",
                "value": [1],
                "dataId": "d1",
                "transient": True,
            },
        ),
        (
            d.StatusChanged("tool_calling", "bash"),
            {"type": "agentStatus", "status": "tool_calling", "detail": "bash"},
        ),
        (
            d.StatusChanged("waiting for a quota"),
            {"type": "agentStatus", "status": "thinking", "detail": "waiting for a quota"},
        ),
        (
            d.StatusChanged("waits", "60 s"),
            {"type": "agentStatus", "status": "thinking", "detail": "waits: 60 s"},
        ),
    ],
)
def test_what_is_streamed_is_sent_as_it_is(delta: d.Delta, frame: Json) -> None:
    assert of(streamed(delta)) == [frame | {"turnId": "t1"}]
    assert of(streamed(delta, d.TextAdded(""), d.ReasoningAdded(""))) == [frame | {"turnId": "t1"}]


def test_nothing_is_sent_of_an_empty_text() -> None:
    assert of(streamed(d.TextAdded(""))) == []


def test_half_of_a_character_is_replaced() -> None:
    (frame,) = of(streamed(d.TextAdded("a\ud83d")))

    assert frame["delta"] == "a\ufffd"


def test_a_turn_begins_for_each_prompt_that_it_answers() -> None:
    before = (BEGUN[0], e.PromptRepeated("e1", "p9"))
    created = {"type": "message.create", "turnId": "t1", "userId": "ann"}
    channel = {"channelType": "web", "channelId": "default"}

    assert of(BEGUN[1], before) == [
        created | channel | {"promptId": "p1"},
        created | channel | {"promptId": "p9"},
        {"type": "agentStatus", "status": "thinking", "turnId": "t1"},
    ]


def test_a_turn_of_a_prompt_without_ids_begins() -> None:
    before = (e.Prompted(entry_id="e1", channel=e.Channel("slack", "c1")),)

    assert of(BEGUN[1], before)[0] == {
        "type": "message.create",
        "turnId": "t1",
        "channelType": "slack",
        "channelId": "c1",
    }


def test_whoever_waits_for_a_prompt_that_was_taken_back_hears_of_it() -> None:
    before = (BEGUN[0], e.PromptRepeated("e1", "p9"))
    error = {"type": "error", "error": "The prompt was taken back"}

    assert of(e.PromptTakenBack("e1"), before) == [
        error | {"promptId": "p1"},
        error | {"promptId": "p9"},
    ]
    assert of(e.PromptTakenBack("e1"), (e.Prompted(entry_id="e1"),)) == []


@pytest.mark.parametrize(
    "event",
    [
        e.Prompted(entry_id="e2", prompt_id="p2"),
        e.PromptRepeated("e1", "p9"),
        e.PromptTakenBack("e9"),
        e.TurnBegun(turn_id="t9", entry_id="e1"),
        e.TurnBegun(turn_id="t9", entry_id="e9"),
        e.StepBegun(turn_id="t1", step=0),
        e.StepEnded(turn_id="t1", step=0, message=Assistant((Text("a"),)), finish_reason="stop"),
        e.AttemptLost(turn_id="t1", step=0, attempt=0, since=0, why="died"),
        e.Compacted(turn_id="t1", transcript=()),
        e.TurnTakenOver(turn_id="t1"),
        e.TurnParked("t1"),
        e.QuestionClosed(turn_id="t1", question_id="q9"),
        e.Streamed("t9", (d.TextAdded("x"),)),
        e.TurnEnded(turn_id="t9", reason="end_turn"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_of_most_other_events_nothing_is_sent(event: e.Event) -> None:
    assert of(event) == []


def test_a_second_turn_does_not_begin_while_one_runs() -> None:
    before = (*BEGUN, e.Prompted(entry_id="e2"))

    assert of(e.TurnBegun(turn_id="t2", entry_id="e2"), before) == []


def test_a_step_behind_something_is_marked() -> None:
    step = e.StepBegun(turn_id="t1", step=1, since=1)
    text = streamed(d.TextAdded("a"))

    assert of(step, (*BEGUN, text)) == [{"type": "message.part.step", "turnId": "t1"}]
    assert of(step, (*BEGUN, text, step)) == []


def test_a_lost_attempt_is_taken_back() -> None:
    lost = e.AttemptLost(turn_id="t1", step=0, attempt=0, since=1, why="truncated")
    before = (*BEGUN, streamed(d.TextAdded("a"), d.ReasoningAdded("b")))

    assert of(lost, before) == [{"type": "message.part.retract", "turnId": "t1", "since": 1}]


def test_the_input_of_a_call_comes_in_pieces() -> None:
    event = streamed(*(d.InputAdded("c1", "read", text) for text in ("", '{"pa', 'th":1}')))
    about = {"turnId": "t1", "callId": "c1", "toolName": "read"}
    piece = {"type": "message.part.tool-input-delta", **about}

    assert of(event) == [
        {"type": "message.part.tool-update", **about, "status": "pending"},
        piece | {"delta": '{"pa'},
        piece | {"delta": 'th":1}'},
    ]
    assert of(event, (*BEGUN, event)) == [piece | {"delta": '{"pa'}, piece | {"delta": 'th":1}'}]


def test_of_a_secret_input_no_pieces_are_sent() -> None:
    event = streamed(d.InputAdded("c1", "bash", '{"token":"canary"}'))

    assert of(event) == [UPDATE | {"status": "pending"}]


def test_pieces_that_come_too_late_are_not_sent() -> None:
    piece = d.InputAdded("c1", "read", "x")
    result = d.PreliminaryResult("c1", "read", Raw(b"1"))
    about = {"turnId": "t1", "callId": "c1", "toolName": "read"}
    shown = {"status": "running", "result": 1, "preliminary": True}

    assert of(streamed(piece), (*BEGUN, RUN)) == []
    assert of(streamed(result, piece)) == [{"type": "message.part.tool-update", **about, **shown}]


def test_a_preliminary_result_of_a_call_that_is_over_is_not_sent() -> None:
    event = streamed(d.PreliminaryResult("c1", "bash", Raw(b"1")))

    assert of(event, (*BEGUN, RUN)) == [
        UPDATE | {"status": "running", "result": 1, "preliminary": True}
    ]
    assert of(event, (*BEGUN, ended())) == []


def test_a_call_runs_and_has_its_outcome() -> None:
    assert of(RUN) == [UPDATE | {"status": "running", "args": SHOWN}]
    assert of(ended(value=Raw(b"null")), (*BEGUN, RUN)) == [
        UPDATE | {"status": "completed", "result": None}
    ]
    assert of(ended("failed", error="No paper"), (*BEGUN, RUN)) == [
        UPDATE | {"status": "error", "error": "No paper"}
    ]
    assert of(RUN, (*BEGUN, ended())) == []
    assert of(ended(), (*BEGUN, ended())) == []


def test_a_call_that_never_began_has_its_input_with_its_outcome() -> None:
    refused_call = ended("denied", input=SECRET)

    assert of(refused_call) == [UPDATE | {"status": "error", "error": "Denied", "args": SHOWN}]
    assert of(refused_call, (*BEGUN, RUN)) == [UPDATE | {"status": "error", "error": "Denied"}]
    assert of(ended(content=(Text("a"),))) == [UPDATE | {"status": "completed", "result": "a"}]


def test_a_question_about_a_call_comes_behind_the_call() -> None:
    running = UPDATE | {"status": "running", "args": SHOWN}

    assert of(ASKED) == [running, QUESTION]
    assert of(ASKED, (*BEGUN, ended())) == [QUESTION]


def test_a_question_need_not_be_about_a_call() -> None:
    asked = e.QuestionAsked(turn_id="t1", question_id="q2", text="Which?")
    unknown = e.QuestionAsked(turn_id="t1", question_id="q2", text="?", call_id="c9")

    assert of(asked) == [{"type": "question", "questionId": "q2", "turnId": "t1", "text": "Which?"}]
    assert [frame["type"] for frame in of(unknown)] == ["message.part.tool-update", "question"]


@pytest.mark.parametrize(
    ("answer", "frame"),
    [
        (Raw(b"null"), {"type": "question.resolved", "answer": None}),
        (Raw(b'{"approved":true}'), {"type": "question.resolved", "answer": {"approved": True}}),
        (UNSET, {"type": "question.expired"}),
    ],
)
def test_a_question_is_closed_once(answer: Any, frame: Json) -> None:
    closed = e.QuestionClosed(turn_id="t1", question_id="q1", answer=answer)

    assert of(closed, (*BEGUN, ASKED)) == [frame | {"questionId": "q1", "turnId": "t1"}]
    assert of(closed, (*BEGUN, ASKED, closed)) == []


def test_an_end_closes_what_is_open() -> None:
    end = e.TurnEnded(
        turn_id="t1",
        reason="canceled",
        finish_reason="other",
        usage=Usage(input=3, cache_read=1, output=4, reasoning=2),
    )

    assert of(end, (*BEGUN, ASKED)) == [
        {"type": "question.expired", "questionId": "q1", "turnId": "t1"},
        UPDATE | {"status": "error", "error": "Canceled"},
        {
            "type": "message.finalize",
            "turnId": "t1",
            "reason": "canceled",
            "finishReason": "other",
            "usage": {
                "inputTokens": 3,
                "outputTokens": 4,
                "totalTokens": 7,
                "cachedInputTokens": 1,
                "reasoningTokens": 2,
            },
        },
        {"type": "complete", "turnId": "t1", "promptId": "p1"},
    ]


def test_an_end_says_why_in_fixed_words() -> None:
    end = e.TurnEnded(turn_id="t1", reason="error", finish_reason="error", error="It broke")
    before = (e.Prompted(entry_id="e1"), BEGUN[1])

    assert of(end, before) == [
        {
            "type": "message.finalize",
            "turnId": "t1",
            "reason": "error",
            "finishReason": "error",
            "error": "It broke",
        },
        {"type": "complete", "turnId": "t1"},
    ]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(), (None, None, None)),
        (Usage(input=0, output=0), (0, 0, 0)),
        (Usage(input=3), (3, None, None)),
        (Usage(output=4), (None, 4, None)),
    ],
)
def test_what_the_provider_did_not_say_is_no_number(usage: Usage, expected: Any) -> None:
    found = tokens(usage)

    assert (found.input_tokens, found.output_tokens, found.total_tokens) == expected


def test_frames_for_one_socket() -> None:
    assert json.loads(refused("Too many", "p1")) == {
        "type": "error",
        "error": "Too many",
        "promptId": "p1",
    }
    assert json.loads(refused("Too many", None)) == {"type": "error", "error": "Too many"}
    assert json.loads(joined("ann")) == {"type": "user.joined", "userId": "ann"}
    assert json.loads(joined(None)) == {"type": "user.joined"}
    assert json.loads(PONG) == {"type": "pong"}


def test_statuses_are_those_that_the_gateway_takes() -> None:
    assert set(AgentStatus.__annotations__["status"].__args__) == frames_module.STATUSES


def test_without_secrets_all_is_shown() -> None:
    (frame,) = of(RUN, frames=Frames())

    assert frame["args"] == {"token": "canary", "path": "a"}
