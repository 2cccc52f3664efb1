"""The events of a turn that `init` shows, and those of them that a history has."""

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from turnwire.core import events
from turnwire.core.events import Event, Phase, Reason
from turnwire.dialects.v2.init import entries
from turnwire.dialects.v2.progress import turn_events

Json = dict[str, Any]
FINISH: Json = {"type": "finish", "reason": "end_turn"}


def session(*messages: object) -> Raw:
    return Raw(json.dumps({"messages": messages}).encode())


def events_of(*parts: object) -> list[Event]:
    (entry,) = entries(session({"id": "t1", "role": "assistant", "parts": parts}))
    return list(turn_events(entry))


@pytest.mark.parametrize(
    ("part", "event"),
    [
        ({"type": "text", "text": "a"}, events.TextDelta("a")),
        ({"type": "text", "text": 7}, events.TextDelta("")),
        ({"type": "reasoning", "text": "hm"}, events.ReasoningDelta("hm")),
        ({"type": "file", "url": "u", "mime": "m"}, events.FilePart("u", "m")),
        ({"type": "source", "url": "u", "sourceId": "s"}, events.SourceUrl("s", "u", None)),
        (
            {"type": "data", "dataName": "s", "dataId": "d", "value": None},
            events.DataPart("s", "d", Raw(b"null")),
        ),
        (
            {"type": "data", "dataName": "s", "dataId": 7, "value": 1},
            events.DataPart("s", None, Raw(b"1")),
        ),
        ({"type": "finish", "reason": "canceled"}, events.TurnFinished(reason=Reason.CANCELED)),
    ],
)
def test_a_part_is_the_event_that_it_was(part: Json, event: Event) -> None:
    assert events_of(part) == [event]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "file"},
        {"type": "source"},
        {"type": "no-such-part"},
        {"type": "data", "value": 1},
        {"type": "data", "dataName": "s"},
        {"type": "tool-call", "callId": "c1", "status": "exploded"},
        {"type": "tool-call", "status": "running"},
        {"type": "question"},
        {"type": "question", "questionId": "q1", **{f"f{n}": n for n in range(1_001)}},
        7,
    ],
)
def test_a_part_that_is_none_has_no_event(part: object) -> None:
    assert events_of(part) == []


CALL = {"type": "tool-call", "callId": "c1", "toolName": "bash"}


@pytest.mark.parametrize(
    ("fields", "text", "is_preliminary"),
    [
        ({"status": "pending", "inputText": '{"a'}, '{"a', False),
        ({"status": "completed", "inputText": "[1]"}, "[1]", False),
        ({"status": "running", "inputText": "[1]", "args": [1]}, None, False),
        ({"status": "pending", "inputText": ""}, None, False),
        ({"status": "pending", "inputText": 7}, None, False),
        ({"status": "running", "args": 1, "result": 2, "preliminary": True}, None, True),
        ({"status": "running", "args": 1, "result": 2, "preliminary": "yes"}, None, False),
        ({"status": "error", "error": "no", "preliminary": True}, None, False),
    ],
)
def test_a_call_with_the_beginning_of_its_input_or_of_its_result(
    fields: Json, text: str | None, *, is_preliminary: bool
) -> None:
    *before, update = events_of(CALL | fields)

    assert before == ([] if text is None else [events.ToolInputDelta("c1", "bash", text)])
    assert isinstance(update, events.ToolUpdate)
    assert (update.phase.value, update.preliminary) == (fields["status"], is_preliminary)


def test_the_end_of_a_turn_is_its_last_event_wherever_it_stands() -> None:
    error = {"type": "error", "message": "no"}
    text = {"type": "text", "text": "a"}

    assert events_of({**FINISH, "reason": "error"}, error, text) == [
        events.TextDelta("a"),
        events.TurnFinished(reason=Reason.ERROR, error="no"),
    ]
    assert events_of(error, text) == [events.TextDelta("a")]


def test_a_call_that_is_done_may_be_repeated_or_be_followed_by_another_of_its_id() -> None:
    done = {"type": "tool-call", "callId": "c1", "toolName": "bash", "status": "completed"}
    again = {**done, "result": 1}

    def phases(*parts: Json) -> list[Phase]:
        return [event.phase for event in events_of(*parts) if isinstance(event, events.ToolUpdate)]

    assert phases(done, done) == [Phase.COMPLETED, Phase.COMPLETED]
    assert phases(done, again) == [Phase.COMPLETED, Phase.PENDING, Phase.COMPLETED]


@pytest.mark.parametrize(
    ("fields", "closed"),
    [
        ({}, []),
        ({"expired": True}, [(None, True)]),
        ({"answer": "yes"}, [(b'"yes"', False)]),
        ({"answer": "yes", "expired": True}, [(b'"yes"', False)]),
    ],
)
def test_a_question_is_followed_by_what_closed_it(fields: Json, closed: list[object]) -> None:
    asked, *after = events_of({"type": "question", "questionId": "q1", "text": "ok?", **fields})

    assert isinstance(asked, events.Question)
    assert msgspec.json.decode(asked.payload).items() >= {"text": "ok?"}.items()
    assert [
        (None if end.answer is None else bytes(end.answer), end.expired)
        for end in after
        if isinstance(end, events.QuestionClosed)
    ] == closed
