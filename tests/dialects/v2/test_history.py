"""What the hydration says of a channel, as messages."""

import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.operations import HistoryPrompt
from turnwire.core.requests import DEFAULT_CHANNEL, Channel, HistoryRequest
from turnwire.core.ui_stream.messages import ui_messages
from turnwire.dialects.v2 import init
from turnwire.dialects.v2.history import channel_history

Json = dict[str, Any]


def prompt(text: str, number: int, **fields: Any) -> Json:
    parts = [{"type": "text", "text": text}]
    return {"id": f"e{number}", "role": "user", "parts": parts, **fields}


def turn(text: str, number: int, *, over: bool = True, **fields: Any) -> Json:
    parts = [{"type": "text", "text": text}, *([{"type": "finish"}] if over else [])]
    return {"id": f"t{number}", "role": "assistant", "parts": parts, **fields}


def messages_of(
    *messages: Json, channel: Channel = DEFAULT_CHANNEL, limit: int = 99, before: str | None = None
) -> list[Json]:
    """The history as a client gets it."""
    entries = init.entries(Raw(json.dumps({"messages": messages}).encode()))
    recall = HistoryRequest(user_id="u1", init_s=1, verdict_s=1, limit=limit, before=before)
    messages_told: list[Json] = json.loads(ui_messages(channel_history(entries, channel, recall)))
    return messages_told


def ids(*messages: Json, **how: Any) -> list[str]:
    return [message["id"] for message in messages_of(*messages, **how)]


TALK = (prompt("a", 1), turn("b", 1), prompt("c", 2), turn("d", 2))


def test_a_talk() -> None:
    assert messages_of(*TALK[:2]) == [
        {"id": "e1", "role": "user", "parts": [{"type": "text", "text": "a"}]},
        {
            "id": "t1",
            "role": "assistant",
            "parts": [{"type": "step-start"}, {"type": "text", "text": "b", "state": "done"}],
        },
    ]


@pytest.mark.parametrize(
    ("limit", "before", "found"),
    [
        (99, None, ["e1", "t1", "e2", "t2"]),
        (1, None, ["t2"]),
        (3, None, ["t1", "e2", "t2"]),
        (99, "e2", ["e1", "t1"]),
        (1, "t2", ["e2"]),
        (99, "e1", []),
        (99, "of-nobody", []),
    ],
)
def test_a_part_of_it(limit: int, before: str | None, found: list[str]) -> None:
    assert ids(*TALK, limit=limit, before=before) == found


def test_a_turn_that_is_not_over_is_left_to_resume() -> None:
    assert ids(*TALK[:3], turn("d", 2, over=False)) == ["e1", "t1", "e2"]


def test_a_channel_is_a_talk_of_its_own() -> None:
    aside: Json = {"channelType": "thread", "channelId": "t7"}
    talk = (*TALK[:2], prompt("x", 8, **aside), turn("y", 8, **aside))

    assert ids(*talk) == ["e1", "t1"]
    assert ids(*talk, channel=Channel("thread", "t7")) == ["e8", "t8"]


def test_what_has_no_id_or_another_role_is_left_out() -> None:
    assert ids(prompt("a", 1, id=""), turn("b", 1, role="system"), prompt("c", 2)) == ["e2"]


def test_a_prompt_goes_by_the_id_that_its_client_gave_it() -> None:
    assert ids(prompt("a", 1, clientMessageId="m1")) == ["m1"]
    assert ids(prompt("a", 1, clientMessageId="m1"), turn("b", 1), before="t1") == ["m1"]


def test_no_two_messages_go_by_one_id() -> None:
    again = (prompt("a", 1, clientMessageId="m1"), prompt("a", 2, clientMessageId="m1"))
    clash = (prompt("a", 1, clientMessageId="t1"), turn("b", 1))

    assert ids(*again) == ["m1", "e2"]
    assert ids(*clash) == ["t1", "t1:answer"]


def test_files_of_a_prompt_come_before_its_text() -> None:
    files = [
        {"type": "file", "mime": "image/png", "url": "data:,x", "filename": "a.png"},
        {"type": "file", "mime": "image/png", "url": "https://a.example/"},
        {"type": "file", "mime": "image/png"},
        {"type": 7},
    ]
    text = [{"type": "text", "text": "look"}, {"type": "text", "text": 7}]
    (message,) = messages_of(prompt("", 1, parts=[*text, *files]))

    assert message["parts"] == [
        {"type": "file", "mediaType": "image/png", "url": "data:,x", "filename": "a.png"},
        {"type": "file", "mediaType": "image/png", "url": "https://a.example/"},
        {"type": "text", "text": "look"},
    ]


def test_who_asks_is_told_how_turns_ended() -> None:
    endings = [
        [{"type": "error", "message": "No"}, {"type": "finish", "reason": "error"}],
        [{"type": "finish", "reason": "canceled"}],
        [{"type": "finish", "reason": "end_turn"}],
        [{"type": "finish", "reason": "of a kind that nobody knows"}],
    ]
    turns = [
        {"id": f"t{number}", "role": "assistant", "parts": parts}
        for number, parts in enumerate(endings)
    ]
    entries = init.entries(Raw(json.dumps({"messages": turns}).encode()))
    recall = HistoryRequest(user_id="u1", init_s=1, verdict_s=1, limit=9)
    said = channel_history(entries, DEFAULT_CHANNEL, recall)

    assert [one.get("metadata") for one in json.loads(ui_messages(said, finish=True))] == [
        {"finish": {"reason": "error", "errorText": "No"}},
        {"finish": {"reason": "canceled"}},
        None,
        None,
    ]
    assert b"metadata" not in ui_messages(said)


def test_the_transcript_knows_prompts_from_turns() -> None:
    entries = init.entries(Raw(json.dumps({"messages": TALK}).encode()))
    recall = HistoryRequest(user_id="u1", init_s=1, verdict_s=1, limit=9)
    said = channel_history(entries, DEFAULT_CHANNEL, recall).entries

    assert [isinstance(one, HistoryPrompt) for one in said] == [True, False, True, False]


def test_an_empty_text_is_no_part_and_begins_no_step() -> None:
    """An agent may keep one where its next text goes."""
    call: Json = {"type": "tool-call", "toolName": "t", "status": "completed", "args": {}}
    calls: list[Json] = [call | {"callId": "c1", "result": 1}, call | {"callId": "c2", "result": 2}]
    empty: Json = {"type": "text", "text": ""}
    told = {"type": "text", "text": "b"}, {"type": "finish", "reason": "end_turn"}

    with_empty = turn("", 1) | {"parts": [empty, calls[0], empty, calls[1], *told[:1], told[1]]}
    without = turn("", 1) | {"parts": [*calls, *told]}
    assert messages_of(with_empty) == messages_of(without)
