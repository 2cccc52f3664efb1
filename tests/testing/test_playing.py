from typing import Any

import pytest

from support.scripted_protocol import Scripted
from turnwire.core.agent import Decoded
from turnwire.core.events import Reason, TextDelta, TurnFinished
from turnwire.testing.client_model import BrokenPromiseError
from turnwire.testing.playing import Played

END = Decoded([TurnFinished(reason=Reason.END_TURN)])


def played(*decoded: Any, protocol: type[Scripted] = Scripted) -> Played:
    """A turn that got a frame for each of these."""
    return Played(protocol(decoded)).receive([b"{}"] * len(decoded))


def test_a_turn_to_its_end() -> None:
    turn = played("a", Decoded([TextDelta("b")]), END).close()

    assert turn.client.streamed_text == "ab"


def test_a_turn_that_is_not_over_is_not_whole() -> None:
    with pytest.raises(BrokenPromiseError, match="not over"):
        played("a").close()


def test_time_ends_a_silent_turn() -> None:
    turn = played("a").wait().close()

    assert turn.client.error == "Agent stopped responding"
    assert turn.now == 120


def test_an_agent_that_leaves_ends_its_turn() -> None:
    assert played("a").leave().close().client.error == "Stream interrupted"


def test_a_dialect_may_wait_for_a_few_seconds_more() -> None:
    class Late(Scripted):
        deadline = 3.0

        def tick(self, _now: float) -> Decoded:
            return END

    assert played("a", protocol=Late).settle().close().now == 3
    assert played("a").settle().now == 0


def test_a_deadline_that_stays_in_the_past_is_found() -> None:
    class Spinning(Scripted):
        deadline = 3.0

    for wait in (Played.settle, Played.wait):
        with pytest.raises(BrokenPromiseError, match="in the past"):
            wait(played("a", protocol=Spinning))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accepted", None),
        ("queued", 1),
        ("kept_bytes", 1.5),
        ("deadline", float("nan")),
        ("abort_scope", "ours"),
    ],
)
def test_a_member_of_another_type_is_found(name: str, value: Any) -> None:
    protocol = type("Odd", (Scripted,), {name: value})

    with pytest.raises(BrokenPromiseError, match=name):
        played("a", protocol=protocol)


def test_frames_to_the_agent_are_kept_and_must_be_bytes() -> None:
    text: Any = "text"

    assert played(Decoded(to_agent=[b"x"])).sent == [b"x"]
    with pytest.raises(BrokenPromiseError, match="no bytes"):
        played(Decoded(to_agent=[text]))
