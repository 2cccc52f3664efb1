"""What a turn told so far, as the message that the next request has."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.body.conversation import Call, Result
from turnwire.core.bounds import OPEN_BLOCKS_MAX
from turnwire.dialects.ui_stream.messages import joined
from turnwire.dialects.ui_stream.transcript import KEPT_MAX, Transcript

CALL = Call("c1", "weather", Raw(b"{}"))


def parts(transcript: Transcript) -> Any:
    (message,) = joined(transcript.pieces())
    return json.loads(message)["parts"]


def test_texts_and_calls_are_parts_in_their_order() -> None:
    transcript = Transcript("m1")
    transcript.step()
    for delta in ("I ", "look", "\ud83d", "\ude00"):
        transcript.text("t1", delta)
    transcript.call(CALL)
    transcript.result(Result("", "c1", "", Raw(b"1")))
    transcript.step()
    transcript.text("t1", "So.")

    assert [part.get("text", part["type"]) for part in parts(transcript)] == [
        *("step-start", "I look\U0001f600", "tool-weather", "step-start", "So.")
    ]
    assert parts(transcript)[2]["output"] == 1


def test_a_call_without_anything_before_it_begins_a_step() -> None:
    transcript = Transcript("m1")
    transcript.call(CALL)

    assert [part["type"] for part in parts(transcript)] == ["step-start", "tool-weather"]


def test_a_message_that_others_began_goes_on() -> None:
    transcript = Transcript("m1", goes_on=True)
    transcript.text("t1", "More.")
    begun = Transcript("m1")
    begun.text("t1", "Well.")

    (message,) = joined([*begun.pieces(), *transcript.pieces()])

    assert [part["text"] for part in json.loads(message)["parts"]] == ["Well.", "More."]


def test_many_deltas_are_one_text() -> None:
    transcript = Transcript("m1")
    for number in range(1_000):
        transcript.text("t1", f"{number} ")

    assert parts(transcript)[0]["text"] == "".join(f"{number} " for number in range(1_000))


def test_texts_at_once_are_a_part_each_in_the_order_in_which_they_began() -> None:
    transcript = Transcript("m1")
    for text_id, delta in [("t1", "a"), ("t2", "b"), ("t1", "c"), ("t2", "d")]:
        transcript.text(text_id, delta)
    transcript.end_text("t2")
    transcript.text("t1", "e")
    transcript.text("t2", "another")
    transcript.end_text("t1")
    transcript.end_text("never")
    transcript.end_text("t2")
    transcript.text("t1", "last")

    assert [part["text"] for part in parts(transcript)] == ["ace", "bd", "another", "last"]


def test_of_very_many_texts_at_once_all_become_parts() -> None:
    transcript = Transcript("m1")
    for number in range(OPEN_BLOCKS_MAX + 1):
        transcript.text(f"t{number}", str(number))
    transcript.text("t0", "more")

    texts = [*map(str, range(OPEN_BLOCKS_MAX + 1)), "more"]
    assert [part["text"] for part in parts(transcript)] == texts


def test_a_turn_that_is_too_long_is_not_kept() -> None:
    transcript = Transcript("m1")
    transcript.text("t1", "x" * KEPT_MAX)
    assert (transcript.is_whole, transcript.kept_bytes) == (True, KEPT_MAX)
    transcript.text("t1", "x")
    transcript.step()
    transcript.call(CALL)
    transcript.result(Result("", "c1", "", None, "broken"))

    assert not transcript.is_whole
    assert transcript.pieces() == []
    assert transcript.kept_bytes == 0


def of_texts(transcript: Transcript, number: int) -> None:
    transcript.text("t1", chr(97 + number % 26))
    transcript.end_text("t1")


def of_calls(transcript: Transcript, number: int) -> None:
    call_id = f"{number:0>512}"
    transcript.call(Call(call_id, "n" * 512, Raw(b"{}")))
    transcript.result(Result("", call_id, "", Raw(b"1")))


def of_signs(transcript: Transcript, number: int) -> None:
    transcript.text("t1", "\U0001f600" * (100 + number % 7))
    transcript.end_text("t1")


@pytest.mark.parametrize("tell", [of_texts, of_calls, of_signs])
def test_what_is_counted_is_what_it_takes(tell: Callable[[Transcript, int], None]) -> None:
    transcript = Transcript("m1")
    tracemalloc.start()
    try:
        for number in range(300):
            tell(transcript, number)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert transcript.is_whole
    assert taken / 1.2 < transcript.kept_bytes < taken * 1.5


@pytest.mark.parametrize("tell", [of_texts, of_calls, of_signs])
def test_however_small_its_parts_are_a_turn_has_a_bound(
    tell: Callable[[Transcript, int], None],
) -> None:
    transcript = Transcript("m1")
    for number in range(4_000):
        tell(transcript, number)

    assert (transcript.is_whole, transcript.pieces()) == (False, [])
