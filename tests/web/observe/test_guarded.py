"""Those who only watch a turn cannot end it."""

import pytest
import structlog

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import is_whole, post, said
from gateway.running import Gateway
from turnwire.core.recording.drift import Drift
from turnwire.core.recording.redact import Redactor
from turnwire.core.turn.inputs import Drain, Input, Tick
from turnwire.core.turn.output import NO_OUTPUT, Output
from turnwire.web.observe.guarded import FAILED, Guarded


class Failing:
    """An observer that counts what it gets, and raises."""

    calls = 0

    def on_input(self, turn_input: Input, _now: float) -> None:
        self.calls += 1
        if turn_input == Drain():
            raise KeyError("input")

    def on_output(self, _output: Output, now: float) -> None:
        self.calls += 1
        if now:
            raise KeyError("output")


def test_an_observer_is_called_until_it_raises() -> None:
    failing = Failing()
    guarded = Guarded(failing, "r1")

    with structlog.testing.capture_logs() as logs:
        guarded.on_input(Tick(), 0)
        guarded.on_output(NO_OUTPUT, 0)
        assert logs == []
        guarded.on_input(Drain(), 0)
        guarded.on_output(NO_OUTPUT, 1)
        guarded.on_input(Drain(), 1)

    assert failing.calls == 3
    (line,) = logs
    assert (line["event"], line["observer"], line["request_id"]) == (FAILED, "Failing", "r1")


def test_an_output_may_be_what_it_cannot_take() -> None:
    failing = Failing()
    guarded = Guarded(failing, "r1")

    guarded.on_output(NO_OUTPUT, 1)
    guarded.on_output(NO_OUTPUT, 1)

    assert failing.calls == 1


async def speak(line: Line) -> None:
    await line.begin()
    await line.say(frames.delta("hello"))
    line.cut()


@pytest.mark.sockets
async def test_a_stream_goes_on_without_its_monitors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    def fail(*_: object) -> None:
        raise AttributeError("items")

    monkeypatch.setattr(Drift, "inspect", fail)
    monkeypatch.setattr(Redactor, "frame", fail)
    with structlog.testing.capture_logs() as logs:
        async with ScriptedAgent(speak) as agent:
            async with Gateway(agent.url(), record_dir=tmp_path) as gateway:
                shown = (await post(gateway)).text

            assert is_whole(shown)
            assert said(shown) == "hello"
    assert [line["observer"] for line in logs if line["event"] == FAILED] == ["DriftMonitor"]
    (line,) = [line for line in logs if line["event"] == "not recorded"]
    assert isinstance(line["exc_info"], AttributeError)
