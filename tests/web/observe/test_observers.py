"""What nobody asked for costs nothing: a stream without observers calls nothing for them."""

import sys
from collections import Counter
from types import FrameType
from typing import Any

import pytest
from msgspec import Raw
from prometheus_client import CollectorRegistry

from support import v2_frames as f
from turnwire.core.recording.drift import STREAMS_FIRST
from turnwire.core.requests import PromptRequest, QuestionReply, ResumeRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.metrics import Telemetry
from turnwire.relay.file_writer import FileWriter
from turnwire.web.observe.drift_monitor import DriftMonitor
from turnwire.web.observe.flight_recorder import lacks
from turnwire.web.observe.observers import ObservedStream, Observers

V2 = DIALECTS["v2"]
ASK = PromptRequest(text="hi", prompt_id=f.PROMPT)


def begin(observers: Observers) -> ObservedStream:
    return observers.attach(
        ASK,
        Limits(),
        request_id="r",
        token="t",
        dialect="v2",
        options=StreamOptions(),
        extra_observers=(),
    )


def drifts() -> DriftMonitor:
    return DriftMonitor(V2, Telemetry(CollectorRegistry()).drift, None, FileWriter())


def calls(turn: Turn) -> Counter[str]:
    """The Python functions that a turn of a thousand deltas calls, and how often."""
    counted: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            counted[frame.f_code.co_qualname] += 1

    lines = [f.begin(), *(f.part("word ") for _ in range(1_000)), f.finalize()]
    sys.setprofile(count)
    try:
        turn.handle(Opened(), 0)
        for line in lines:
            turn.frames([line], 1)
    finally:
        sys.setprofile(None)
    return counted


def run(observed: ObservedStream) -> Counter[str]:
    return calls(Turn(V2.prompt(ASK), Limits(), UIMessageStream(), observers=observed.observers))


def test_with_everything_off_not_one_more_function_is_called() -> None:
    calls(Turn(V2.prompt(ASK), Limits(), UIMessageStream()))  # the first one imports an encoding
    plain = calls(Turn(V2.prompt(ASK), Limits(), UIMessageStream()))

    observed = begin(Observers())

    assert not observed.observers
    assert run(observed) == plain
    assert not any("observe" in name for name in plain)


def test_a_stream_that_is_not_watched_is_one_without_drift() -> None:
    observers = Observers(drift_monitor=drifts())
    watched = [len(begin(observers).observers) for _ in range(STREAMS_FIRST + 2)]

    assert watched == [1] * STREAMS_FIRST + [0] * 2
    assert run(begin(observers)) == run(begin(Observers()))


@pytest.mark.parametrize("frames", [1_000])
def test_a_watched_stream_looks_into_few_of_its_deltas(frames: int) -> None:
    counted = run(begin(Observers(drift_monitor=drifts())))

    assert counted["Turn._observe"] == frames + 3  # the opening too
    assert counted["DriftMonitor.on_input"] == frames + 3
    assert counted["Drift._inspect_frame"] < 50


def test_a_recording_says_that_it_lacks_the_answers_of_its_request() -> None:
    followed = ResumeRequest(user_id="u1", init_s=1.0)
    answered = ResumeRequest(user_id="u1", init_s=1.0, replies=[QuestionReply("q1", Raw(b"true"))])

    assert [*lacks(ASK, StreamOptions()), *lacks(followed, StreamOptions())] == []
    assert lacks(answered, StreamOptions()) == ["the answers that the turn went on with"]
