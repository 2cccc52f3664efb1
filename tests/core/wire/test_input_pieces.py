"""Inputs in pieces: joined, bounded, and given back."""

import pytest

from turnwire.core.wire import input_pieces
from turnwire.core.wire.input_pieces import InputPieces


def test_pieces_are_joined_halves_of_characters_too() -> None:
    made = InputPieces()
    for piece in ('{"é":"', "\ud83d", "", "\ude00", '"}'):
        made.add("c1", piece)
    made.add("c2", "{}")

    assert made.kept_bytes == len('{"é":""}'.encode()) + 6 + 2
    assert made.so_far("c1") == made.take("c1") == '{"é":"\ud83d\ude00"}'
    assert (made.kept_bytes, made.take("c2"), made.take("c2")) == (2, "{}", "")
    assert made.kept_bytes == 0


def test_empty_pieces_are_not_kept() -> None:
    made = InputPieces()
    made.add("c1", "")

    assert not made._inputs


def test_an_input_beyond_the_limit_is_dropped_and_leaves_its_room_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(input_pieces, "INPUT_BYTES_MAX", 8)
    made = InputPieces()
    made.add("c1", "12345")
    made.add("c2", "678")
    made.add("c1", "9")

    assert made.kept_bytes == 3
    made.add("c1", "0")
    made.add("c2", "12345")
    assert made.take("c1") == '"(too long)"'
    assert made.take("c2") == "67812345"
    assert made.kept_bytes == 0
    made.add("c3", "12345678")
    assert made.take("c3") == "12345678"
