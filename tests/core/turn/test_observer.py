"""An observer gets each input of a turn once, and each output."""

from typing import get_args

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.watching import Watching
from turnwire.core.bounds import MALFORMED_MAX
from turnwire.core.requests import PromptRequest, QuestionReply
from turnwire.core.turn.inputs import (
    AgentLeft,
    Blocked,
    ClientLeft,
    ClientStalled,
    Drain,
    Frames,
    Held,
    Input,
    Opened,
    Progressed,
    Readers,
    Refused,
    Replied,
    Stopped,
    Tick,
    Unblocked,
    Unreachable,
    Unsound,
)
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

INPUTS: list[Input] = [
    *(Opened(), Unreachable(), Frames((f.begin(), f.part("a"))), AgentLeft(), Unsound()),
    *(ClientLeft(), ClientStalled(), Blocked(), Progressed(1), Held(2**21), Unblocked()),
    *(Replied(QuestionReply("q1", Raw(b"1")), "u1"), Refused(), Drain(), Tick()),
    *(Stopped(), Readers(1)),
]


def turn_of(*observers: Watching) -> Turn:
    protocol = DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT))
    return Turn(protocol, Limits(), UIMessageStream(), observers=observers)


def test_all_inputs_are_in_the_list() -> None:
    assert {type(turn_input) for turn_input in INPUTS} == set(get_args(Input))


@pytest.mark.parametrize("turn_input", INPUTS, ids=lambda one: type(one).__name__)
def test_each_input_and_its_output_are_observed_once(turn_input: Input) -> None:
    first, second = Watching(), Watching()
    turn, unobserved = turn_of(first, second), turn_of()

    opening = turn.handle(Opened(), 1)
    output = turn.handle(turn_input, 2)

    assert first.inputs == second.inputs == [(Opened(), 1), (turn_input, 2)]
    assert first.outputs == second.outputs == [(opening, 1), (output, 2)]
    assert (unobserved.handle(Opened(), 1), unobserved.handle(turn_input, 2)) == (opening, output)


def test_frames_are_observed_as_the_input_that_they_are() -> None:
    watching = Watching()
    turn = turn_of(watching)
    turn.handle(Opened(), 1)

    output = turn.frames([b"x"] * (MALFORMED_MAX + 1), 2)  # which ends the turn as unsound

    assert watching.inputs[1:] == [(Frames([b"x"] * (MALFORMED_MAX + 1)), 2)]
    assert watching.outputs[1:] == [(output, 2)]
    assert output != Output()


def test_no_input_comes_another_way() -> None:
    public = {name for name in vars(Turn) if not name.startswith("_")}

    assert public == {"handle", "frames", "long_frame", "prepare_frame", "crashed"}


def test_a_crash_is_no_input_since_a_replay_crashes_by_itself() -> None:
    watching = Watching()
    turn = turn_of(watching)
    turn.handle(Opened(), 1)

    output = turn.crashed(2)

    assert b"Internal error" in output.to_client
    assert turn.outcome is Outcome.CRASHED
    assert turn.crashed(3) == Output()
    assert watching.inputs == [(Opened(), 1)]


def test_a_bug_does_not_take_the_observers_away() -> None:
    watching = Watching()
    turn = turn_of(watching)
    with pytest.raises(TypeError):
        turn.frames([None], 1)  # type: ignore[list-item]

    turn.handle(Opened(), 2)

    assert watching.inputs == [(Frames([None]), 1), (Opened(), 2)]  # type: ignore[list-item]
    assert len(watching.outputs) == 1
