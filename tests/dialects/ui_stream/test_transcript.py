"""What a turn told so far, as the message that the next request has."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.body.conversation import Call, Result
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
        transcript.text(delta)
    transcript.call(CALL)
    transcript.result(Result("", "c1", "", Raw(b"1")))
    transcript.step()
    transcript.text("So.")

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
    transcript.text("More.")
    begun = Transcript("m1")
    begun.text("Well.")

    (message,) = joined([*begun.pieces(), *transcript.pieces()])

    assert [part["text"] for part in json.loads(message)["parts"]] == ["Well.", "More."]


def test_many_deltas_are_one_text() -> None:
    transcript = Transcript("m1")
    for number in range(1_000):
        transcript.text(f"{number} ")

    assert parts(transcript)[0]["text"] == "".join(f"{number} " for number in range(1_000))


def test_a_turn_that_is_too_long_is_not_kept() -> None:
    transcript = Transcript("m1")
    transcript.text("x" * KEPT_MAX)
    assert (transcript.is_whole, transcript.kept_bytes) == (True, KEPT_MAX)
    transcript.text("x")
    transcript.step()
    transcript.call(CALL)
    transcript.result(Result("", "c1", "", None, "broken"))

    assert not transcript.is_whole
    assert transcript.pieces() == []
    assert transcript.kept_bytes == 0


def of_texts(transcript: Transcript, number: int) -> None:
    transcript.text(chr(97 + number % 26))
    transcript.end_text()


def of_calls(transcript: Transcript, number: int) -> None:
    call_id = f"{number:0>512}"
    transcript.call(Call(call_id, "n" * 512, Raw(b"{}")))
    transcript.result(Result("", call_id, "", Raw(b"1")))


def of_signs(transcript: Transcript, number: int) -> None:
    transcript.text("\U0001f600" * (100 + number % 7))
    transcript.end_text()


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
