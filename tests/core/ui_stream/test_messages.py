"""The history as `UIMessage[]`."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support.shown import tool
from turnwire.core import events
from turnwire.core.body.attachments import Attachment
from turnwire.core.events import Event, Phase, Reason
from turnwire.core.operations import History, HistoryPrompt, HistoryTurn
from turnwire.core.ui_stream.messages import ui_messages, ui_messages_in_steps

Json = dict[str, Any]

STEP: Json = {"type": "step-start"}
END = events.TurnFinished(reason=Reason.END_TURN)
ASKED = events.Question("q1", Raw(b'{"text":"ok?"}'))


def messages(*said: HistoryPrompt | HistoryTurn) -> list[Json]:
    told: list[Json] = json.loads(ui_messages(History(said)))
    return told


def parts(*told: Event) -> list[Json]:
    """The parts of a turn's message."""
    (message,) = messages(HistoryTurn("t1", [*told, END]))
    assert (message["id"], message["role"]) == ("t1", "assistant")
    found: list[Json] = message["parts"]
    return found


def card(**fields: Any) -> Json:
    return {"type": "tool-bash", "toolCallId": "c", "providerExecuted": True, **fields}


def test_nothing_was_said() -> None:
    assert messages() == []


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        pytest.param(HistoryPrompt("m1", "hi"), [{"type": "text", "text": "hi"}], id="text"),
        pytest.param(HistoryPrompt("m1", ""), [{"type": "text", "text": ""}], id="nothing at all"),
        pytest.param(
            HistoryPrompt("m1", "\ud83d"), [{"type": "text", "text": "\ufffd"}], id="a half"
        ),
        pytest.param(
            HistoryPrompt("m1", "", [Attachment("image/png", "data:,x")]),
            [{"type": "file", "mediaType": "image/png", "url": "data:,x"}],
            id="a file alone",
        ),
        pytest.param(
            HistoryPrompt("m1", "hi", [Attachment("text/html", "javascript:alert(1)")]),
            [{"type": "text", "text": "hi"}],
            id="a file whose URL runs something",
        ),
        pytest.param(
            HistoryPrompt("m1", "hi", [Attachment("image/png", "data:,x", "a.png")]),
            [
                {"type": "file", "mediaType": "image/png", "url": "data:,x", "filename": "a.png"},
                {"type": "text", "text": "hi"},
            ],
            id="a file with a name, before the text",
        ),
    ],
)
def test_a_prompt(asked: HistoryPrompt, shown: list[Json]) -> None:
    assert messages(asked) == [{"id": "m1", "role": "user", "parts": shown}]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        pytest.param([], [], id="an empty turn"),
        pytest.param(
            [
                events.ReasoningDelta("hm"),
                events.ReasoningDelta("m"),
                events.TextDelta("a"),
                events.TextDelta("b"),
            ],
            [
                {"type": "reasoning", "text": "hmm", "state": "done"},
                {"type": "text", "text": "ab", "state": "done"},
            ],
            id="thoughts and words",
        ),
        pytest.param(
            [tool(Phase.PENDING), tool(Phase.RUNNING, args={}), tool(Phase.COMPLETED, result=4)],
            [card(state="output-available", input={}, output=4)],
            id="a tool",
        ),
        pytest.param(
            [tool(Phase.COMPLETED), events.TextDelta("a")],
            [
                card(state="output-available", input={}, output=None),
                STEP,
                {"type": "text", "text": "a", "state": "done"},
            ],
            id="what follows a tool is another step",
        ),
        pytest.param(
            [tool(Phase.ERROR, args=[1], error="no")],
            [card(state="output-error", input=[1], errorText="no")],
            id="a tool that failed",
        ),
        pytest.param(
            [tool(Phase.ERROR, error="none", preliminary=True), tool(Phase.COMPLETED, result=4)],
            [card(state="output-available", input={}, output=4)],
            id="a tool whose outcome was not known at first",
        ),
        pytest.param(
            [tool(Phase.RUNNING, args={"a": 1})],
            [card(state="output-error", input={"a": 1}, errorText="No result")],
            id="a tool without an outcome",
        ),
        pytest.param(
            [
                events.FilePart("data:,x", "image/png"),
                events.FilePart("javascript:1", "text/html"),
                events.SourceUrl("s1", "https://a.example/", "A"),
                events.SourceUrl("s2", "https://b.example/"),
            ],
            [
                {"type": "file", "mediaType": "image/png", "url": "data:,x"},
                {
                    "type": "source-url",
                    "sourceId": "s1",
                    "url": "https://a.example/",
                    "title": "A",
                },
                {"type": "source-url", "sourceId": "s2", "url": "https://b.example/"},
            ],
            id="files and sources",
        ),
        pytest.param(
            [ASKED, events.TextDelta("a"), events.QuestionClosed("q1", answer=Raw(b'"yes"'))],
            [
                {
                    "type": "data-question",
                    "id": "q1",
                    "data": {
                        "text": "ok?",
                        "answer": "yes",
                        "questionId": "q1",
                        "state": "resolved",
                    },
                },
                {"type": "text", "text": "a", "state": "done"},
            ],
            id="a question stays where it was asked",
        ),
        pytest.param(
            [
                events.DataPart("s", "d", Raw(b"1")),
                events.DataPart("s", None, Raw(b"2")),
                events.DataPart("s", "t", Raw(b"3"), transient=True),
                events.DataPart("r", "d", Raw(b"4")),
                events.DataPart("s", None, Raw(b"5")),
                events.DataPart("s", "d", Raw(b"6")),
            ],
            [
                {"type": "data-s", "data": 6, "id": "d"},
                {"type": "data-s", "data": 2},
                {"type": "data-r", "data": 4, "id": "d"},
                {"type": "data-s", "data": 5},
            ],
            id="data of the agent's own kind",
        ),
        pytest.param(
            [
                events.TextDelta("a"),
                events.TextBreak(),
                events.TextDelta("b"),
                events.ToolInputDelta("c", "bash", "[1]"),
                tool(Phase.RUNNING, result=2, preliminary=True),
                tool(Phase.COMPLETED, result=4),
            ],
            [
                {"type": "text", "text": "a", "state": "done"},
                {"type": "text", "text": "b", "state": "done"},
                card(state="output-available", input=[1], output=4),
            ],
            id="two blocks, and a call whose input came in pieces",
        ),
        pytest.param(
            [
                *(events.TextDelta("a"), events.TextSwitch("A", "B"), events.TextDelta("b")),
                *(events.TextSwitch("B", "A"), events.TextDelta("c")),
            ],
            [
                {"type": "text", "text": "ac", "state": "done"},
                {"type": "text", "text": "b", "state": "done"},
            ],
            id="two texts at once",
        ),
        pytest.param(
            [ASKED],
            [
                {
                    "type": "data-question",
                    "id": "q1",
                    "data": {"text": "ok?", "questionId": "q1", "state": "expired"},
                }
            ],
            id="a question that nobody answered",
        ),
    ],
)
def test_a_turn(told: list[Event], shown: list[Json]) -> None:
    assert parts(*told) == [STEP, *shown]


def test_a_call_of_a_turn_that_goes_on_waits_for_its_outcome() -> None:
    (message,) = messages(HistoryTurn("t1", [tool(Phase.RUNNING, args={})]))

    assert message["parts"] == [STEP, card(state="input-available", input={})]


@pytest.mark.parametrize("reason", list(Reason))
def test_how_it_ended_leaves_the_message_as_it_is(reason: Reason) -> None:
    ended = events.TurnFinished(reason=reason, error="boom")
    (message,) = messages(HistoryTurn("t1", [events.TextDelta("a"), ended]))

    assert message["parts"] == [STEP, {"type": "text", "text": "a", "state": "done"}]


@pytest.mark.parametrize(
    ("ended", "metadata"),
    [
        pytest.param(END, None, id="by itself"),
        pytest.param(
            events.TurnFinished(reason=Reason.CANCELED, error="boom"),
            {"finish": {"reason": "canceled"}},
            id="stopped",
        ),
        pytest.param(
            events.TurnFinished(reason=Reason.ERROR, error="bo\x1b[31mom" + "x" * 3_000),
            {"finish": {"reason": "error", "errorText": "bo[31mom" + "x" * 1_992}},
            id="an error, told as in the stream",
        ),
        pytest.param(
            events.TurnFinished(reason=Reason.ERROR),
            {"finish": {"reason": "error", "errorText": "Turn failed"}},
            id="an error without words",
        ),
    ],
)
def test_how_it_ended_is_told_to_who_asks(ended: Event, metadata: Json | None) -> None:
    said = History([HistoryPrompt("m1", "hi"), HistoryTurn("t1", [events.TextDelta("a"), ended])])
    asked, turn = json.loads(ui_messages(said, finish=True))

    assert turn.pop("metadata", None) == metadata
    assert [asked, turn] == json.loads(ui_messages(said))


def test_the_agents_status_is_not_part_of_it() -> None:
    assert parts(events.AgentStatus("thinking")) == [STEP]


def test_a_message_of_many_parts_is_told_in_many_steps() -> None:
    told: list[Event] = []
    for number in range(1_000):
        call_id = f"c{number}"
        told += [
            tool(Phase.RUNNING, call_id, args={}),
            tool(Phase.COMPLETED, call_id, result=1),
        ]
    steps = 0
    telling_it = ui_messages_in_steps(History([HistoryTurn("t1", told)]), finish=False)
    while True:
        try:
            next(telling_it)
        except StopIteration as end:
            (message,) = json.loads(b"".join(end.value))
            break
        steps += 1

    assert steps > 40
    parts = [part for part in message["parts"] if part["type"] != "step-start"]
    assert [part["toolCallId"] for part in parts] == [f"c{number}" for number in range(1_000)]
    assert {part["state"] for part in parts} == {"output-available"}
