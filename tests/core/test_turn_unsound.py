"""A turn whose agent says what none says that means well."""

import json

import pytest

from turnwire.core.act import Act
from turnwire.core.bounds import MALFORMED_BYTES, MALFORMED_MAX
from turnwire.core.dialect import Ask
from turnwire.core.limits import Limits
from turnwire.core.outcome import Outcome
from turnwire.core.overheard import Overheard
from turnwire.core.turn import Turn
from turnwire.dialects import DIALECTS

CREATE = b'{"type":"message.create","turnId":"t","promptId":"p1"}'
DELTA = b'{"type":"message.part.text-delta","turnId":"t","delta":"x"}'


@pytest.fixture(params=[Turn, Overheard])
def turn(request: pytest.FixtureRequest) -> Turn:
    kind: type[Turn] = request.param
    begun = kind(DIALECTS["v2"].prompt(Ask(text="hi", prompt_id="p1")), Limits())
    begun.opened(0)
    begun.frames([CREATE, DELTA], 1)
    return begun


def told(act: Act) -> list[str]:
    return [json.loads(frame)["type"] for frame in act.tell]


def test_a_thousand_frames_that_cannot_be_read_are_heard_and_one_more_is_not(turn: Turn) -> None:
    turn.frames([b"x"] * MALFORMED_MAX, 2)
    assert turn.outcome is None

    act = turn.frames([b""], 3)

    assert turn.outcome is Outcome.UNSOUND
    assert b"Stream interrupted" in act.write
    assert told(act) == ["abort"]


def test_most_frames_may_be_malformed_never(turn: Turn) -> None:
    for _ in range(3 * MALFORMED_MAX):
        turn.frames([DELTA, b"{}", DELTA], 2)

    assert turn.outcome is None


def test_a_long_frame_that_cannot_be_read_counts_as_many(turn: Turn) -> None:
    long = b"x" * (100 * MALFORMED_BYTES)

    for _ in range(MALFORMED_MAX // 100 + 1):
        turn.frames([long], 2)

    assert turn.outcome is Outcome.UNSOUND


def test_the_connection_may_be_found_unsound_by_others(turn: Turn) -> None:
    act = turn.unsound(2)

    assert turn.outcome is Outcome.UNSOUND
    assert told(act) == ["abort"]
    assert turn.unsound(3) == Act()
