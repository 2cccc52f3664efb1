"""Data of the agent's own kind: what is sent, where it stands, and what replaces what."""

from typing import Any

import pytest
from msgspec import Raw

from support.shown import brief, shown, started
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.bounds import DATA_PARTS_MAX
from turnwire.core.events import DataPart, Event, ReplayStarted, ReplayUncertain, TextDelta
from turnwire.core.ui_stream import chunks
from turnwire.core.ui_stream.data_parts import RESERVED, DataParts, part_chunks
from turnwire.core.ui_stream.translator import Translator

LONGEST = "n" * 64


@pytest.mark.parametrize(
    ("part", "chunk"),
    [
        (DataPart("state", None, Raw(b"null")), {"type": "data-state", "data": None}),
        (DataPart("state", "", Raw(b"1")), {"type": "data-state", "data": 1}),
        (DataPart("a-b_C9", "d", Raw(b"1")), {"type": "data-a-b_C9", "data": 1, "id": "d"}),
        (DataPart("s", "\ud83d", Raw(b"1")), {"type": "data-s", "data": 1, "id": "\ufffd"}),
        (
            DataPart(LONGEST, "d", Raw(b'{"__proto__":1}'), transient=True),
            {"type": f"data-{LONGEST}", "data": {"_proto_": 1}, "id": "d", "transient": True},
        ),
    ],
)
def test_a_part_is_one_chunk(part: DataPart, chunk: dict[str, Any]) -> None:
    assert shown(part_chunks(part)) == [chunk]


@pytest.mark.parametrize("name", ["", "a b", "é", "a\n", "a.b", LONGEST + "n", *sorted(RESERVED)])
def test_a_name_that_is_not_allowed_is_not_sent(name: str) -> None:
    translator = started(TextDelta("a"))

    assert translator.feed(DataPart(name, "d", Raw(b"1"))) == []
    assert translator.feed(DataPart(name, "d", Raw(b"1"), transient=True)) == []
    assert translator.text_block is not None


def test_what_follows_a_new_part_stands_below_it() -> None:
    translator = started(TextDelta("a"))

    assert brief(translator.feed(DataPart("s", "d", Raw(b"1")))) == ["text-end t:t0", "data-s 1 d"]
    assert brief(translator.feed(TextDelta("b")))[0] == "text-start t:t1"


def test_a_part_that_replaces_another_leaves_the_text_open() -> None:
    translator = started(DataPart("s", "d", Raw(b"1")), TextDelta("a"))

    assert brief(translator.feed(DataPart("s", "d", Raw(b"2")))) == ["data-s 2 d"]
    assert brief(translator.feed(TextDelta("b"))) == ["text-delta t:t0 b"]
    assert brief(translator.feed(DataPart("r", "d", Raw(b"2")))) == ["text-end t:t0", "data-r 2 d"]


def test_a_part_without_an_id_replaces_none() -> None:
    translator = started(DataPart("s", None, Raw(b"1")), TextDelta("a"))

    assert brief(translator.feed(DataPart("s", None, Raw(b"1"))))[0] == "text-end t:t0"


def test_only_a_transient_part_comes_before_the_turn_and_inside_of_text() -> None:
    translator = Translator()
    transient = DataPart("s", "d", Raw(b"1"), transient=True)

    assert translator.feed(DataPart("s", "d", Raw(b"1"))) == []
    assert brief(translator.feed(transient)) == ["data-s 1 d True"]
    translator = started(TextDelta("a"))
    assert brief(translator.feed(transient)) == ["data-s 1 d True"]
    assert translator.text_block is not None
    assert brief(translator.feed(DataPart("s", "d", Raw(b"1"))))[0] == "text-end t:t0"


def test_of_too_many_ids_the_oldest_is_forgotten() -> None:
    parts = DataParts()

    def add(number: int) -> bool:
        return parts.add(chunks.DataPart("data-s", Raw(b"1"), f"d{number}"))

    assert not any(add(number) for number in range(DATA_PARTS_MAX + 1))
    assert all(add(number) for number in range(1, DATA_PARTS_MAX + 1))
    assert not add(0)


def test_what_the_client_has_of_the_parts_without_an_id_is_not_sent_again() -> None:
    copy = ClientCopy(message_id="m", data=2)
    translator = Translator(client_copy=copy)
    unnamed = [DataPart("s", None, Raw(b"%d" % number)) for number in range(3)]

    told: list[Event] = [ReplayStarted("t"), unnamed[0], ReplayUncertain(), *unnamed[1:]]
    assert [brief(translator.feed(event)) for event in told] == [
        [],
        [],
        ["start m"],
        [],
        ["data-s 2"],
    ]


def test_a_part_with_an_id_is_sent_again_in_its_last_state() -> None:
    translator = Translator(client_copy=ClientCopy(message_id="m"))
    replayed = [DataPart("s", "d", Raw(b"1")), DataPart("s", "d", Raw(b"2"))]
    transient = DataPart("s", "t", Raw(b"2"), transient=True)

    told: list[Event] = [ReplayStarted("t"), *replayed, transient, TextDelta("a")]
    for event in told:
        assert translator.feed(event) == []

    assert brief(translator.feed(ReplayUncertain())) == ["start m", "data-s 2 d"]
    assert brief(translator.feed(replayed[0])) == ["data-s 1 d"]
