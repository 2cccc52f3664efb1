"""What a turn told so far, as the message that the next request has."""

import json
from typing import Any

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
    assert transcript.is_whole
    transcript.text("x")
    transcript.step()
    transcript.call(CALL)
    transcript.result(Result("", "c1", "", None, "broken"))

    assert not transcript.is_whole
    assert transcript.pieces() == []
