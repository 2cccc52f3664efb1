"""Pieces of calls whose fields have the types that servers give them."""

import json
from typing import Any

import msgspec
import pytest

from turnwire.core.bounds import ID_MAX
from turnwire.core.wire import call_ids
from turnwire.dialects.openai_chat.frames import ToolCall
from turnwire.dialects.openai_chat.pieces import Piece, read


def piece(**fields: Any) -> Piece:
    return read(msgspec.json.decode(json.dumps(fields), type=ToolCall))


@pytest.mark.parametrize(
    ("given", "index"),
    [(0, 0), ("0", 0), (7, 7), (None, None), ("", None), (-1, None), ("x", None), (10**30, None)],
)
def test_an_index_is_a_number_however_it_is_written(given: Any, index: int | None) -> None:
    assert piece(index=given).index == index


@pytest.mark.parametrize(
    ("given", "call_id"),
    [("c1", "c1"), (1, "1"), (None, ""), ("", ""), ("x" * 600, call_ids.shortened("x" * 600))],
)
def test_an_id_is_a_string(given: Any, call_id: str) -> None:
    assert piece(id=given).call_id == call_id


@pytest.mark.parametrize(
    ("given", "name"), [("add", "add"), (None, ""), (7, ""), ("x" * 600, "x" * ID_MAX)]
)
def test_a_name_is_a_string_that_can_be_kept(given: Any, name: str) -> None:
    assert piece(function={"name": given}).name == name
    assert piece(custom={"name": given}).name == name


@pytest.mark.parametrize(
    ("given", "text"), [("{", "{"), ({"a": 1}, '{"a": 1}'), (None, ""), ("", ""), (7, "7")]
)
def test_an_input_is_a_text_or_the_json_itself(given: Any, text: str) -> None:
    assert piece(function={"arguments": given}).text == text
    assert piece(custom={"input": given}).text == text


def test_an_empty_piece_says_nothing() -> None:
    assert piece() == Piece(None, "", "", "")
