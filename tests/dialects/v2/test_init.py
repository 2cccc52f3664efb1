"""What `init` says of a session: its entries, who asked for what, and the events of a turn."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import v2_frames as f
from turnwire.dialects.v2.init import (
    Ahead,
    Entry,
    asker,
    asker_from,
    askers_by_prompt,
    client_ids,
    entries,
    message_id,
    prepare_frame,
    prompt_text,
    waiting_prompts,
)

Json = dict[str, Any]
FINISH: Json = {"type": "finish", "reason": "end_turn"}


def session(*messages: object) -> Raw:
    return Raw(json.dumps({"messages": messages}).encode())


def prompt(number: int, **fields: Any) -> Json:
    return {"id": f"e{number}", "role": "user", "promptId": f"p{number}", **fields}


def turn(number: int, *parts: Json, **fields: Any) -> Json:
    its = {"id": f"t{number}", "role": "assistant", "promptId": f"p{number}"}
    return {**its, "parts": list(parts), **fields}


def test_what_is_odd_is_left_out_and_hides_nothing() -> None:
    found = entries(session(7, prompt(1), {"id": 7}, None, turn(1, FINISH)))

    assert [entry.id for entry in found] == ["e1", "t1"]
    assert entries(Raw(b"[]")) == entries(Raw(b'{"messages":{}}')) == entries(Raw()) == []


@pytest.mark.parametrize(
    ("entry", "is_open"),
    [
        (turn(1), True),
        (turn(1, {"type": "text", "text": "a"}), True),
        (turn(1, FINISH), False),
        (turn(1, FINISH, {"type": "text", "text": "a"}), False),
        (prompt(1), False),
    ],
)
def test_a_turn_without_a_finish_is_open(entry: Json, *, is_open: bool) -> None:
    assert entries(session(entry))[0].is_open is is_open


def test_of_a_question_the_last_part_counts() -> None:
    parts = [
        {"type": "question", "questionId": "q1"},
        {"type": "question", "questionId": "q2"},
        {"type": "question", "questionId": "q1", "answer": None},
        {"type": "question", "questionId": "q3", "expired": True},
        {"type": "question", "questionId": "q4", "expired": "true"},
        {"type": "question"},
    ]
    (entry,) = entries(session({**turn(1), "parts": parts}))

    assert entry.questions == {"q1": False, "q2": True, "q3": False, "q4": True}
    assert list(entry.open_questions) == ["q2", "q4"]


@pytest.mark.parametrize(
    ("count", "found"),
    [
        (b"0", []),
        (b"1", ["e4"]),
        (b"2", ["e3", "e4"]),
        (b"9", ["e3", "e4"]),
        (b"-1", []),
        (b'"2"', []),
        (b"", []),
    ],
)
def test_where_no_prompt_is_marked_the_newest_without_a_turn_wait(
    count: bytes, found: list[str]
) -> None:
    history = entries(session(prompt(1), turn(1), prompt(2), turn(2), prompt(3), prompt(4)))

    assert [entry.id for entry in waiting_prompts(history, Raw(count))] == found


def test_where_a_prompt_is_marked_the_number_does_not_count() -> None:
    history = entries(session(prompt(1, queued=True), prompt(2), prompt(3, queued=False)))

    assert [entry.id for entry in waiting_prompts(history, Raw(b"2"))] == ["e1"]


@pytest.mark.parametrize(
    ("history", "user_id"),
    [
        ([prompt(1, userId="ann"), turn(1)], "ann"),
        ([prompt(1, userId="ann"), turn(1, userId="bob")], "bob"),
        ([prompt(2, userId="ann"), turn(1)], None),
        ([prompt(1, userId=7), prompt(1, userId="ann"), turn(1)], "ann"),
        ([prompt(1, userId=""), turn(1)], None),
        ([{"id": "e1", "role": "user", "userId": "ann"}, turn(1, promptId=None)], None),
    ],
)
def test_who_asked(history: list[Json], user_id: str | None) -> None:
    found = entries(session(*history))

    assert asker(found[-1], found) == user_id
    assert asker_from(found[-1], askers_by_prompt(found)) == user_id


def test_a_turns_message_never_has_the_id_of_a_clients() -> None:
    taken = client_ids(entries(session(prompt(1, clientMessageId="t1"), prompt(2))))

    assert taken == {"t1"}
    assert (message_id("t1", taken), message_id("t2", taken)) == ("t1:answer", "t2")


def test_the_text_of_a_prompt_is_that_of_its_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "file", "text": "x"}, {"type": "text"}]
    (entry,) = entries(session(prompt(1, parts=[*parts, {"type": "text", "text": "b"}])))

    assert prompt_text(entry) == "ab"


def test_entries_that_are_read_ahead_are_those_of_the_frame_and_are_taken_once() -> None:
    raw = f.frame("init", session={"messages": [prompt(n) for n in range(600)]}, data={})
    seen: list[str] = []
    ahead = Ahead(lambda entry: seen.append(entry.id))

    steps = len(list(prepare_frame(raw, ahead)))
    taken = list(ahead.take(session(prompt(7))))
    afterwards = list(ahead.take(session(prompt(7))))

    assert steps > 4
    assert seen == [entry.id for entry in taken] == [f"e{n}" for n in range(600)]
    assert [entry.id for entry in afterwards] == ["e7"]
    assert isinstance(taken[0], Entry)
