"""The approvals that a response asks for."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import openai_responses_frames as f
from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_responses import asked, items
from turnwire.dialects.openai_responses.asked import Asked
from turnwire.dialects.openai_responses.calls import Calls


def raw(item: Any) -> Raw:
    return Raw(json.dumps(item).encode())


def item(fields: dict[str, Any]) -> items.Item:
    found = items.read(raw(fields))
    assert found is not None
    return found


def made() -> tuple[Asked, FrameStats]:
    stats = FrameStats()
    return Asked(Calls("p1"), stats), stats


def test_a_request_is_known_from_its_first_word_and_given_once() -> None:
    one, _ = made()
    one.add(0, raw(f.asks()))
    one.add(0, raw(f.asks()))
    assert one.only_added == [(0, bytes(raw(f.asks())))]
    assert one.kept_bytes == len(raw(f.asks()))

    assert len(one.end(0, item(f.asks()))) == 1
    assert one.end(0, item(f.asks())) == []
    assert one.only_added == []
    assert 0 < one.kept_bytes < 400
    assert list(one.take()) == ["mcpr_1/files"]
    assert (one.requests, one.kept_bytes, one.has_unreadable) == ({}, 0, False)


def test_one_that_cannot_be_answered() -> None:
    one, stats = made()

    assert one.end(0, item(f.asks("a/b"))) == []
    assert one.has_unreadable
    assert stats.left_out == {"request for an approval": 1}


@pytest.mark.parametrize("way", ["added", "done"])
def test_only_so_many_and_only_so_long_ones(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked, "BYTES_MAX", 100_000)

    def take(one: Asked, number: int, given: str) -> None:
        asks = f.asks(f"m{number}", arguments=json.dumps(given))
        if way == "added":
            one.add(number, raw(asks))
        else:
            one.end(number, item(asks))

    many, _ = made()
    for number in range(OPEN_QUESTIONS_MAX):
        take(many, number, "x")
    assert not many.has_unreadable
    take(many, OPEN_QUESTIONS_MAX, "x")
    assert many.has_unreadable

    long, stats = made()
    take(long, 0, "x" * 60_000)
    assert not long.has_unreadable
    take(long, 1, "x" * 60_000)
    assert long.has_unreadable
    assert 60_000 < stats.left_out_bytes < 61_000
    assert 60_000 < long.kept_bytes < 61_000
