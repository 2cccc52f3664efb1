"""Entries of a history, made of what a session sends of its past."""

from collections.abc import Sequence
from typing import Any

import pytest

from support import acp_messages as f
from turnwire.core.body.attachments import Attachment
from turnwire.core.events import TextDelta
from turnwire.core.operations import HistoryPrompt, HistoryTurn
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import frames, past
from turnwire.dialects.acp.frames import TornMessage
from turnwire.dialects.acp.past import TOO_LONG, Past

STATS = FrameStats()


def entries(*messages: bytes, limit: int = 100, stats: FrameStats = STATS) -> Sequence[Any]:
    made = Past(limit, None, stats)
    for raw in messages:
        message = frames.decoder.read(raw, stats)
        assert message is not None
        text = message.text if isinstance(message, TornMessage) else None
        made.add(frames.update_params(message.params).update, text, len(raw))
    return made.entries(without_last_turn=False)


def words(turn: Any) -> str:
    assert isinstance(turn, HistoryTurn)
    return "".join(each.text for each in turn.events if isinstance(each, TextDelta))


def of_user(**block: Any) -> bytes:
    return f.update("user_message_chunk", content=block)


def test_a_prompt_ends_where_another_message_begins() -> None:
    asked = (f.prompted("a", messageId="u1"), f.prompted("b", messageId="u1"))

    assert entries(*asked, f.prompted("c", messageId="u2")) == [
        *(HistoryPrompt("prompt-1", "ab"), HistoryPrompt("prompt-2", "c")),
    ]


def test_images_are_files_of_their_prompt_and_the_rest_is_counted() -> None:
    stats = FrameStats()
    image = of_user(type="image", data="QUJD", mimeType="image/png")
    link = of_user(type="resource_link", uri="https://a.example", name="a")
    (prompt,) = entries(image, f.prompted("look"), link, of_user(type=7), stats=stats)

    file = Attachment(mime="image/png", url="data:image/png;base64,QUJD")
    assert prompt == HistoryPrompt("prompt-1", "look", (file,))
    assert (stats.left_out, stats.malformed) == ({"block of content": 1}, 1)


def test_a_past_that_begins_with_the_agent_and_has_an_empty_prompt() -> None:
    turn, prompt = entries(f.text("Hi"), of_user(type="text", text=""))

    assert (turn.turn_id, prompt) == ("turn-1", HistoryPrompt("prompt-2", ""))


def test_what_shows_nothing_is_no_turn() -> None:
    assert len(entries(f.prompted("a"), f.update("usage_update"), f.prompted("b"))) == 1


def test_halves_of_a_surrogate_pair_are_joined() -> None:
    (prompt,) = entries(f.prompted("a\ud83d"), f.prompted("\ude00"))

    assert prompt.text == "a\U0001f600"


def test_of_a_very_long_past_the_end_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [message for n in range(9) for message in (f.prompted(f"q{n}"), f.text(f"a{n}"))]
    kept = [
        each.message_id if isinstance(each, HistoryPrompt) else each.turn_id
        for each in entries(*messages, limit=2)
    ]
    assert kept == ["prompt-17", "turn-18"]

    monkeypatch.setattr(past, "BYTES_MAX", 3 * max(map(len, messages)))
    assert [words(entries(*messages)[n]) for n in (0, 2)] == ["a7", "a8"]


def test_of_a_very_long_answer_the_beginning_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    stats = FrameStats()
    monkeypatch.setattr(past, "BYTES_MAX", 2 * len(f.text("a")))
    (turn,) = entries(f.text("a"), f.text("b"), f.text("c"), f.text("d"), stats=stats)

    assert words(turn) == "ab"
    assert stats.left_out == {TOO_LONG: 2}
