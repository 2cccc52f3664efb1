"""Each input is a value, and an array whose first element says which one it is."""

from typing import get_args

import msgspec
import pytest
from msgspec import Raw

from turnwire.core.requests import QuestionReply
from turnwire.core.turn import inputs
from turnwire.core.turn.inputs import Input

ARRAYS: list[tuple[Input, list[object]]] = [
    (inputs.Opened(), ["opened"]),
    (inputs.Unreachable(), ["unreachable"]),
    (inputs.Refused(), ["refused"]),
    (inputs.Frames((b"a", b"b")), ["frames", ["YQ==", "Yg=="]]),
    (inputs.AgentLeft(), ["close"]),
    (
        inputs.Replied(QuestionReply("q1", Raw(b"1")), "u1"),
        ["replied", {"question_id": "q1", "answer": 1, "subject": None}, "u1"],
    ),
    (inputs.Stopped(), ["stopped"]),
    (inputs.Readers(2), ["readers", 2]),
    (inputs.Unsound(), ["unsound"]),
    (inputs.ClientLeft(), ["leave"]),
    (inputs.ClientStalled(), ["stall"]),
    (inputs.Blocked(), ["blocked"]),
    (inputs.Progressed(5), ["progressed", 5]),
    (inputs.Held(7), ["held", 7]),
    (inputs.Unblocked(), ["unblocked"]),
    (inputs.Drain(), ["drain"]),
    (inputs.Tick(), ["tick"]),
]


def test_all_inputs_are_in_the_table() -> None:
    assert {type(made) for made, _ in ARRAYS} == set(get_args(Input))


@pytest.mark.parametrize(("made", "array"), ARRAYS)
def test_an_input_is_an_array_with_its_tag_first(made: Input, array: list[object]) -> None:
    assert msgspec.json.decode(msgspec.json.encode(made)) == array


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(["closed"], id="no such input"),
        pytest.param(["held"], id="a field is missing"),
        pytest.param(["held", "7"], id="a field of another type"),
        pytest.param(["tick", 1], id="a field too many"),
    ],
)
def test_what_is_no_input_is_refused(array: list[object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(array, type=inputs.Held | inputs.Tick)


def test_an_older_recording_says_progress_without_its_bytes() -> None:
    assert msgspec.convert(["progressed"], type=inputs.Progressed) == inputs.Progressed(0)
