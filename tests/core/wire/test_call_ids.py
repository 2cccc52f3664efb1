"""Ids of calls that are too long, and ids that model hosts refuse."""

import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.bounds import ID_MAX
from turnwire.core.wire import call_ids


@pytest.mark.parametrize(
    ("given", "expected"), [("c1", "c1"), ("", ""), (None, ""), (7, ""), ("x" * 512, "x" * 512)]
)
def test_an_id_that_may_be_kept_stays_as_it_is(given: Any, expected: str) -> None:
    assert call_ids.of(Raw(json.dumps(given).encode())) == expected


def test_a_longer_one_is_shortened_to_the_same_id_each_time_and_to_another_for_another() -> None:
    long = "call_" + "x" * 944
    short = call_ids.of(Raw(json.dumps(long).encode()))

    assert len(short) == ID_MAX
    assert short.startswith("call_xxx")
    assert short == call_ids.shortened(long) == call_ids.shortened(short)
    assert short != call_ids.shortened(long + "y") != call_ids.shortened(long + "z")
    assert len(call_ids.shortened("\ud800" * 65, 64)) == 64


@pytest.mark.parametrize("call_id", ["c1", "toolu_01-a", "x" * 40])
def test_a_short_id_of_letters_is_sent_as_it_is(call_id: str) -> None:
    assert call_ids.mended(call_id, 40) == call_id


def test_any_other_character_is_replaced_and_ids_stay_different() -> None:
    mended = {call_ids.mended(each, 64) for each in ("p1:call-1", "p1.call-1", "p1/call-1")}

    assert len(mended) == 3
    assert all(each.startswith("p1_call-1-") and len(each) <= 64 for each in mended)


@pytest.mark.parametrize("most", [40, 64])
@pytest.mark.parametrize("letter", ["x", "é", "\ud800"])
def test_an_id_that_is_too_long_is_sent_as_the_same_one_each_time(letter: str, most: int) -> None:
    sent = {call_ids.mended(letter * length, most) for length in (65, 200, 512)}

    assert [len(each) for each in sent] == [most] * 3
    assert {call_ids.mended(each, most) for each in sent} == sent
    assert len(call_ids.mended("0198f2c0-1111-7222-8333-444455556666:call-1", most)) <= most


@pytest.mark.parametrize(
    ("card_ids", "expected"),
    [
        (["c1", "c1#2", "c1#3"], ["c1", "c1", "c1"]),
        (["c1", "c2", "c1", "c1#2", "c1#2"], ["c1", "c2", "c1", "c1", "c1"]),
        (["c1#2", "c1"], ["c1#2", "c1"]),
        (["c1", "c1#3", "c1#x", "c1#02"], ["c1", "c1#3", "c1#x", "c1#02"]),
        (["", "#2", "c1#1"], ["", "", "c1#1"]),
        (["c#1", "c#1#2", "c#2"], ["c#1", "c#1", "c#2"]),
    ],
)
def test_a_card_with_a_number_is_of_a_further_call_if_those_before_it_are_there(
    card_ids: list[str], expected: list[str]
) -> None:
    cards = call_ids.Cards()

    assert [cards.add(each) for each in card_ids] == expected
    assert card_ids[0] in cards
    assert "c9" not in cards


def test_the_cards_of_calls_with_one_id_are_numbered() -> None:
    assert [call_ids.numbered("c1", count) for count in (1, 2)] == ["c1", "c1#2"]
