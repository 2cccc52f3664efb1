"""The items that the next response begins with."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import openai_responses_frames as f
from turnwire.dialects.openai_responses import kept_items
from turnwire.dialects.openai_responses.kept_items import KeptItems


def raw(item: Any) -> Raw:
    return Raw(json.dumps(item).encode())


def kept(*found: Any) -> KeptItems:
    made = KeptItems(is_whole=True)
    for item in found:
        made.add(raw(item))
    return made


def test_all_of_them_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    made = kept(1, 2)
    assert (made.all, made.kept_bytes, made.is_whole) == ([b"1", b"2"], 2, True)

    monkeypatch.setattr(kept_items, "BYTES_MAX", 2)
    made.add(Raw(b"3"))
    made.add(Raw(b"4"))
    assert (made.all, made.kept_bytes, made.is_whole) == ([], 0, False)


def test_which_are_of_this_response() -> None:
    made = kept(1)
    assert made.has_new
    made.next_response()
    assert not made.has_new
    made.add(Raw(b"2"))
    assert made.has_new


def test_a_call_that_nobody_ran_gets_an_output() -> None:
    custom = {"type": "custom_tool_call", "call_id": "c3", "name": "x", "input": ""}
    made = kept(f.call("c1"), f.call("c2"), f.output("x", "c1"), custom, 7, f.message("a"))
    before = len(made.all)
    made.answer_unrun()

    assert [json.loads(item) for item in made.all[before:]] == [
        {"type": "function_call_output", "call_id": "c2", "output": "No result"},
        {"type": "custom_tool_call_output", "call_id": "c3", "output": "No result"},
    ]
