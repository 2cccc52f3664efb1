"""What updates tell: text, thoughts, the plan."""

from typing import Any

import pytest

from support import acp_messages as f
from support.acp_turn import begun
from turnwire.dialects.acp.progress import PLAN_BYTES_MAX


def kinds(*messages: bytes) -> list[str]:
    return begun(*messages).kinds[2:]


def test_pieces_of_one_message_are_one_block() -> None:
    assert kinds(f.text("a"), f.text("b")) == ["text-start", "text-delta", "text-delta"]
    assert kinds(f.text("a", messageId="m1"), f.text("b", messageId="m2")).count("text-start") == 2


def test_thoughts_and_text_take_turns() -> None:
    assert kinds(f.thought("a"), f.text("b")) == [
        *("reasoning-start", "reasoning-delta", "reasoning-end", "text-start", "text-delta")
    ]


def test_a_plan_is_one_part_that_changes() -> None:
    first, second = [{"content": "a", "status": "pending"}], [{"content": "a", "status": "done"}]
    played = begun(f.update("plan", entries=first), f.update("plan", entries=second))

    assert played.chunks[2:] == [
        {"type": "data-plan", "id": "plan", "data": {"entries": each}} for each in (first, second)
    ]
    assert begun(f.update("plan")).chunks[-1]["data"] == {"entries": []}


@pytest.mark.parametrize(
    ("message", "word"),
    [
        (f.prompted("hi"), "user_message_chunk"),
        (f.update("usage_update", used=1), "usage_update"),
        (f.update("available_commands_update"), "available_commands_update"),
        (f.update("plan", entries=["x" * PLAN_BYTES_MAX]), "plan that is too large"),
    ],
)
def test_what_is_shown_to_nobody_is_counted(message: bytes, word: str) -> None:
    played = begun(message)

    assert played.kinds == ["start", "start-step"]
    assert played.protocol.frame_stats.left_out == {word: 1}


def test_empty_content_is_nothing() -> None:
    assert kinds(f.text("")) == []


@pytest.mark.parametrize(
    "content", [None, [f.content("lost")], {"type": "text"}, {"type": "text", "text": 7}]
)
def test_a_block_that_cannot_be_read_is_counted(content: Any) -> None:
    played = begun(f.update("agent_message_chunk", content=content))

    assert played.kinds == ["start", "start-step"]
    assert played.protocol.frame_stats.malformed == 1


def test_a_text_is_read_whatever_stands_beside_it() -> None:
    assert begun(f.block(type="text", text="a", uri=5)).client.text == "a"


def test_halves_of_a_surrogate_pair_are_joined() -> None:
    played = begun(f.text("a\ud83d"), f.text("\ude00b"), f.thought("\ud83d c"), f.text("\ud83d"))
    played.tell(f.done())

    assert played.client.text == "a\U0001f600b\ufffd"
