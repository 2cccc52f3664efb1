"""Where a session stands, for a socket that joins."""

import json
from typing import Any

import pytest
from msgspec import Raw

from runtime.session.session_facts import folded
from runtime.session.story import Story
from turnwire_agent.session import deltas as d
from turnwire_agent.session import events as e
from turnwire_agent.session.state import SessionState
from turnwire_agent.v2 import init as init_module
from turnwire_agent.v2.frames import Frames
from turnwire_agent.v2.init import init_frame
from turnwire_agent.v2.repeated import repeated

Json = dict[str, Any]

PNG = "data:image/png;base64,QQ=="
CHANNEL = {"channelType": "web", "channelId": "default"}
BEGUN: tuple[e.Event, ...] = (
    e.Prompted(
        entry_id="e1",
        prompt_id="p1",
        client_message_id="m1",
        user_id="ann",
        content="hi",
        attachments=(e.Attachment("image/png", PNG, "a.png"),),
    ),
    e.TurnBegun(turn_id="t1", entry_id="e1"),
)


def secrets(tool: str) -> frozenset[str]:
    return frozenset({"token"}) if tool == "bash" else frozenset()


def init(*events: e.Event) -> Json:
    found: Json = json.loads(init_frame("s1", folded(events), Frames(secrets)))
    return found


def messages(*events: e.Event) -> list[Json]:
    found: list[Json] = init(*events)["session"]["messages"]
    return found


def parts(*events: e.Event) -> list[Json]:
    found: list[Json] = messages(*BEGUN, *events)[1]["parts"]
    return found


def test_a_session_that_nobody_used_is_empty() -> None:
    assert init() == {
        "type": "init",
        "session": {"id": "s1", "status": "running", "messages": []},
        "data": {"runnerBusy": False, "promptsQueued": 0},
    }


def test_a_turn_that_runs_stands_behind_its_prompt() -> None:
    later = e.Prompted(entry_id="e2", channel=e.Channel("slack", "c1"))

    found = init(*BEGUN, later)

    assert found["data"] == {"runnerBusy": True, "promptsQueued": 1, "runningTurnId": "t1"}
    assert found["session"]["messages"] == [
        {
            "id": "e1",
            "role": "user",
            "promptId": "p1",
            "clientMessageId": "m1",
            "userId": "ann",
            **CHANNEL,
            "parts": [
                {"type": "text", "text": "hi"},
                {"type": "file", "mime": "image/png", "url": PNG, "filename": "a.png"},
            ],
        },
        {"id": "t1", "role": "assistant", "promptId": "p1", **CHANNEL, "parts": []},
        {
            "id": "e2",
            "role": "user",
            "queued": True,
            "channelType": "slack",
            "channelId": "c1",
            "parts": [],
        },
    ]


def test_parts_are_those_of_the_wire() -> None:
    asked = e.QuestionAsked(
        turn_id="t1",
        question_id="q1",
        text="?",
        call_id="c1",
        tool="bash",
        input=Raw(b'{"token":"canary"}'),
    )
    question = {"questionId": "q1", "turnId": "t1", "text": "?"}
    approval = {"kind": "approval", "callId": "c1", "toolName": "bash"}
    closed = e.QuestionClosed(turn_id="t1", question_id="q1", answer=Raw(b"null"))
    other = e.QuestionAsked(turn_id="t1", question_id="q2", text="?")
    streamed = e.Streamed(
        "t1",
        (
            d.TextAdded("a"),
            d.ReasoningAdded("b"),
            d.FileAdded("a/b", "data:,x", "f"),
            d.SourceAdded("s1", "https://a.example/", "A"),
            d.DataSet("state", Raw(b"1"), "d1"),
            d.InputAdded("c2", "read", '{"pa'),
            d.InputAdded("c3", "bash", '{"token":"canary'),
            d.PreliminaryResult("c4", "read", Raw(b"1")),
        ),
    )

    assert parts(
        streamed, asked, closed, other, e.QuestionClosed(turn_id="t1", question_id="q2")
    ) == [
        {"type": "text", "text": "a"},
        {"type": "reasoning", "text": "b"},
        {"type": "file", "mime": "a/b", "url": "data:,x", "filename": "f"},
        {"type": "source", "sourceId": "s1", "url": "https://a.example/", "title": "A"},
        {"type": "data", "dataName": "state", "value": 1, "dataId": "d1"},
        *(
            {"type": "tool-call", **fields}
            for fields in (
                {"callId": "c2", "toolName": "read", "status": "pending", "inputText": '{"pa'},
                {"callId": "c3", "toolName": "bash", "status": "pending"},
                {
                    "callId": "c4",
                    "toolName": "read",
                    "status": "running",
                    "result": 1,
                    "preliminary": True,
                },
                {
                    "callId": "c1",
                    "toolName": "bash",
                    "status": "running",
                    "args": {"token": "(hidden)"},
                },
            )
        ),
        {
            "type": "question",
            **question,
            **approval,
            "args": {"token": "(hidden)"},
            "answer": None,
        },
        {"type": "question", **question, "questionId": "q2", "expired": True},
    ]


def test_a_lost_attempt_is_repeated_while_the_turn_runs_and_not_behind_its_end() -> None:
    step = e.StepBegun(turn_id="t1", step=1, since=1)
    lost = e.AttemptLost(turn_id="t1", step=1, attempt=0, since=1, why="died")
    text = [e.Streamed("t1", (d.TextAdded(text),)) for text in ("a", "b", "c")]
    events = (text[0], step, text[1], lost, step, text[2])
    a, b, c = ({"type": "text", "text": text} for text in ("a", "b", "c"))
    mark = {"type": "step"}

    assert parts(*events) == [a, mark, b, {"type": "retract", "since": 1}, c]
    assert parts(*events, e.TurnEnded(turn_id="t1", reason="end_turn")) == [
        *(a, mark, c),
        {"type": "finish", "reason": "end_turn"},
    ]


def test_a_turn_that_failed_says_why() -> None:
    assert parts(e.TurnEnded(turn_id="t1", reason="error", error="It broke")) == [
        {"type": "error", "message": "It broke"},
        {"type": "finish", "reason": "error"},
    ]


def test_the_oldest_files_have_no_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init_module, "FILE_CHARACTERS", 2 * len(PNG))
    file = e.Streamed("t1", (d.FileAdded("image/png", PNG, "b.png"),))
    last = e.Prompted(entry_id="e2", attachments=(e.Attachment("image/png", PNG),))

    prompt, turn, newest = messages(*BEGUN, file, last)

    assert newest["parts"] == [{"type": "file", "mime": "image/png", "url": PNG}]
    assert turn["parts"][0]["url"] == PNG
    assert prompt["parts"][1] == {"type": "file", "mime": "image/png", "filename": "a.png"}


def test_of_more_than_a_frame_holds_the_oldest_turns_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[e.Event] = []
    for number in range(3):
        events += [
            e.Prompted(entry_id=f"e{number}"),
            e.TurnBegun(turn_id=f"t{number}", entry_id=f"e{number}"),
            e.Streamed(f"t{number}", (d.TextAdded("é" * 1_000),)),
            e.TurnEnded(turn_id=f"t{number}", reason="end_turn"),
        ]
    size = len(
        json.dumps(messages(*events)[-2:], separators=(",", ":"), ensure_ascii=False).encode()
    )
    exact = 2 * (size - len("[,]"))

    monkeypatch.setattr(init_module, "INIT_BYTES", exact)
    assert [each["id"] for each in messages(*events)] == ["e1", "t1", "e2", "t2"]
    monkeypatch.setattr(init_module, "INIT_BYTES", exact - 1)
    assert [each["id"] for each in messages(*events)] == ["e2", "t2"]


def test_what_runs_or_waits_is_never_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init_module, "INIT_BYTES", 0)
    over = e.TurnEnded(turn_id="t1", reason="end_turn")
    later = [e.Prompted(entry_id=f"e{number}") for number in (2, 3)]
    begun = e.TurnBegun(turn_id="t2", entry_id="e2")

    found = messages(*BEGUN, over, *later, begun)

    assert [each["id"] for each in found] == ["e2", "t2", "e3"]


def test_a_file_that_is_forgotten_is_listed() -> None:
    file = e.Streamed("t1", (d.FileAdded("a/b", "data:,x"),))
    state = folded((*BEGUN, file, e.TurnEnded(turn_id="t1", reason="end_turn")))
    next(iter(state.history)).forget_files()

    prompt, turn = json.loads(init_frame("s1", state, Frames()))["session"]["messages"]

    assert prompt["parts"][1] == {"type": "file", "mime": "image/png", "filename": "a.png"}
    assert turn["parts"][0] == {"type": "file", "mime": "a/b"}


def test_what_is_forgotten_is_not_repeated() -> None:
    events: list[e.Event] = []
    for number in range(300):
        events += [
            e.Prompted(entry_id=f"e{number}"),
            e.TurnBegun(turn_id=f"t{number}", entry_id=f"e{number}"),
            e.TurnEnded(turn_id=f"t{number}", reason="end_turn"),
        ]

    found = messages(*events)

    assert len(found) == 200
    assert [found[0]["id"], found[-1]["id"]] == ["e200", "t299"]


def test_half_of_a_character_is_replaced() -> None:
    text = e.Streamed("t1", (d.TextAdded("\ud83d"), d.SourceAdded("s", "https://a.example/")))

    assert parts(text)[0] == {"type": "text", "text": "\ufffd"}


def test_no_secret_is_ever_shown() -> None:
    """Of no event, in no frame and no `init`, also not of one that came again."""

    def token(_tool: str) -> frozenset[str]:
        return frozenset({"path", "token"})

    frames, state = Frames(token), SessionState()
    for seed in range(15):
        for event in Story(seed, orderly=False).events():
            shown = b"".join(frames.of(event, state))
            state.apply(event)
            for exchange in state.history:
                shown += b"".join(repeated(exchange, "p1", state, frames))
            shown += init_frame("s1", state, frames)
            assert b'"path":"' not in shown.replace(b'"path":"(hidden)"', b"")
            assert b"path\\" not in shown
        state = SessionState()
