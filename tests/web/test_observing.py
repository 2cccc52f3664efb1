"""What nobody asked for costs nothing: a stream without listeners runs as it always did."""

import sys
from collections import Counter
from types import FrameType
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from core import frames as f
from turnwire.core.dialect import Ask
from turnwire.core.drift import STREAMS_FIRST
from turnwire.core.limits import Limits
from turnwire.core.overheard import Overheard
from turnwire.core.turn import Turn
from turnwire.dialects import DIALECTS
from turnwire.relay.filing import Filing
from turnwire.telemetry import Telemetry
from turnwire.web.drifting import Drifts
from turnwire.web.observing import Observed, Observers

V2 = DIALECTS["v2"]
ASK = Ask(text="hi", prompt_id=f.PROMPT)


def begin(observers: Observers) -> Observed:
    return observers.begin(
        ASK,
        Limits(),
        request_id="r",
        token="t",
        dialect="v2",
        event_lines=True,
        usage=False,
        taken_id=None,
        lacks=(),
        others=(),
    )


def drifts() -> Drifts:
    return Drifts(V2, Telemetry(CollectorRegistry()).drift, None, Filing())


def calls(turn: Turn) -> Counter[str]:
    """The Python functions that a turn of a thousand deltas calls, and how often."""
    counted: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            counted[frame.f_code.co_qualname] += 1

    lines = [f.begin(), *(f.part("word ") for _ in range(1_000)), f.finalize()]
    sys.setprofile(count)
    try:
        turn.opened(0)
        for line in lines:
            turn.frames([line], 1)
    finally:
        sys.setprofile(None)
    return counted


def run(observed: Observed) -> Counter[str]:
    turn = observed.turn(V2.prompt(ASK), Limits())
    observed.listen(turn)
    return calls(turn)


def test_with_everything_off_not_one_more_function_is_called() -> None:
    calls(Turn(V2.prompt(ASK), Limits()))  # the first one imports an encoding
    plain = calls(Turn(V2.prompt(ASK), Limits()))

    observed = begin(Observers())

    assert observed.turn is Turn
    assert run(observed) == plain
    assert not any("verheard" in name for name in plain)


def test_a_stream_that_is_not_watched_is_one_without_drift() -> None:
    observers = Observers(drifts=drifts())
    watched = [begin(observers).turn for _ in range(STREAMS_FIRST + 2)]

    assert watched == [Overheard] * STREAMS_FIRST + [Turn] * 2
    assert run(begin(observers)) == run(begin(Observers()))


@pytest.mark.parametrize("frames", [1_000])
def test_a_watched_stream_looks_into_few_of_its_deltas(frames: int) -> None:
    counted = run(begin(Observers(drifts=drifts())))

    assert counted["Overheard.frames"] == frames + 2
    assert counted["Drift._look_into"] < 50
