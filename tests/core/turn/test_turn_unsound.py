"""A turn whose agent sends too many unreadable frames, or is reported as unsound."""

import json

import pytest

from support.watching import Watching
from turnwire.core.bounds import MALFORMED_BYTES, MALFORMED_MAX
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened, Unsound
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

CREATE = b'{"type":"message.create","turnId":"t","promptId":"p1"}'
FINALIZE = b'{"type":"message.finalize","turnId":"t","reason":"end_turn"}'
DELTA = b'{"type":"message.part.text-delta","turnId":"t","delta":"x"}'


@pytest.fixture(params=[(), (Watching(),)], ids=["unobserved", "observed"])
def turn(request: pytest.FixtureRequest) -> Turn:
    protocol = DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id="p1"))
    begun = Turn(protocol, Limits(), UIMessageStream(), observers=request.param)
    begun.handle(Opened(), 0)
    begun.frames([CREATE, DELTA], 1)
    return begun


def sent_types(act: Output) -> list[str]:
    return [json.loads(frame)["type"] for frame in act.to_agent]


def test_a_thousand_unreadable_frames_are_accepted_and_one_more_is_not(turn: Turn) -> None:
    turn.frames([b"x"] * MALFORMED_MAX, 2)
    assert turn.outcome is None

    act = turn.frames([b""], 3)

    assert turn.outcome is Outcome.UNSOUND
    assert b"Stream interrupted" in act.to_client
    assert sent_types(act) == ["abort"]


def test_a_turn_that_is_over_by_then_has_its_end(turn: Turn) -> None:
    act = turn.frames([*[b"x"] * (MALFORMED_MAX + 1), FINALIZE], 2)

    assert turn.outcome is Outcome.COMPLETED
    assert act.to_client.endswith(b"data: [DONE]\n\n")


def test_most_frames_may_be_malformed_never(turn: Turn) -> None:
    for _ in range(3 * MALFORMED_MAX):
        turn.frames([DELTA, b"{}", DELTA], 2)

    assert turn.outcome is None


def test_a_long_frame_that_cannot_be_read_counts_as_many(turn: Turn) -> None:
    long = b"x" * (100 * MALFORMED_BYTES)

    for _ in range(MALFORMED_MAX // 100 + 1):
        turn.frames([long], 2)

    assert turn.outcome is Outcome.UNSOUND


def test_the_caller_may_report_an_unsound_connection(turn: Turn) -> None:
    act = turn.handle(Unsound(), 2)

    assert turn.outcome is Outcome.UNSOUND
    assert sent_types(act) == ["abort"]
    assert turn.handle(Unsound(), 3) == Output()
