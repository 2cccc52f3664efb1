"""Which runs are ours: every way in which the begin and the end of a run name them."""

from typing import Any, Final

import pytest

from support import ag_ui_frames as f
from support.ag_ui_turn import Played, protocol
from turnwire.core.agent import ALIVE
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.ag_ui import AgUi

ABSENT: Final[dict[str, Any]] = {}
NAMELESS: Final = (ABSENT, {"runId": None}, {"runId": ""})
OTHER: Final = (
    {"runId": "run-9"},
    {"runId": "run-1 "},
    {"runId": "run-1-2"},
    {"runId": 7},
    {"runId": {"id": f.RUN}},
    {"runId": "x" * 100_000},
)
THREADS: Final = (ABSENT, {"threadId": None}, {"threadId": ""}, {"threadId": f.THREAD})
OTHER_THREADS: Final = ({"threadId": "t"}, {"threadId": 7}, {"threadId": "x" * 100_000})

OURS: Final = [
    *({"runId": f.RUN} | thread for thread in (*THREADS, *OTHER_THREADS)),
    *(run | thread for run in NAMELESS for thread in THREADS),
]
FOREIGN: Final = [
    *(run | thread for run in OTHER for thread in (*THREADS, *OTHER_THREADS)),
    *(run | thread for run in NAMELESS for thread in OTHER_THREADS),
]


def named(names: Any) -> str:
    return str(names)[:60]


@pytest.mark.parametrize("names", OURS, ids=named)
def test_a_run_that_is_ours(names: dict[str, Any]) -> None:
    played = Played(f.event("RUN_STARTED", **names), f.text("a"), f.event("RUN_FINISHED", **names))

    assert played.client.text == "a"
    assert played.turn.outcome is Outcome.COMPLETED
    assert played.protocol.frame_stats.foreign == 0


@pytest.mark.parametrize("names", FOREIGN, ids=named)
def test_a_foreign_run_before_ours(names: dict[str, Any]) -> None:
    started, ended = f.event("RUN_STARTED", **names), f.event("RUN_FINISHED", **names)
    played = Played(started, f.text("secret"), f.failed("secret"), ended)
    assert (played.client.at, played.protocol.frame_stats.foreign) == ("before", 4)

    played.tell(f.started(), f.text("ours"), f.finished())

    assert played.client.text == "ours"
    assert played.turn.outcome is Outcome.COMPLETED
    assert b"secret" not in played.written


@pytest.mark.parametrize("names", FOREIGN, ids=named)
def test_a_foreign_run_within_ours(names: dict[str, Any]) -> None:
    played = Played(f.started(), f.text("a"), f.event("RUN_STARTED", **names), f.text("secret"))
    assert played.protocol.frame_stats.foreign == 2
    assert played.protocol.frame_stats.malformed == 0

    played.tell(f.event("RUN_FINISHED", **names), f.text("secret"), f.started(), f.text("b"))
    played.tell(f.event("RUN_FINISHED", **names), f.finished())

    assert played.client.text == "ab"
    assert played.turn.outcome is Outcome.COMPLETED
    assert b"secret" not in played.written


@pytest.mark.parametrize("names", FOREIGN, ids=named)
def test_a_body_with_a_foreign_run_alone_is_interrupted(names: dict[str, Any]) -> None:
    played = Played(f.event("RUN_STARTED", **names), f.text("secret")).leave()

    assert played.turn.outcome is Outcome.INTERRUPTED
    assert b"secret" not in played.written


@pytest.mark.parametrize("names", NAMELESS, ids=named)
def test_behind_the_begin_of_a_foreign_run_ours_must_be_named(names: dict[str, Any]) -> None:
    played = Played(f.started("run-9"), f.event("RUN_STARTED", **names), f.text("whose"))
    assert played.client.at == "before"

    played.tell(f.event("RUN_FINISHED", **names), f.started(), f.text("ours"), f.finished())

    assert played.client.text == "ours"


def test_a_nameless_begin_of_a_run_that_began_changes_nothing() -> None:
    told = protocol(f.text("a"))

    assert told.receive_frame(f.event("RUN_STARTED"), 0) is ALIVE
    assert told.receive_frame(f.text("b"), 0) == "b"


def test_a_replay_knows_no_thread() -> None:
    """A recording does not say of which session it is."""
    told = AgUi().prompt(PromptRequest(text="hi", prompt_id=f.RUN))

    assert told.receive_frame(f.event("RUN_STARTED", threadId="any"), 0) is not None
    assert told.frame_stats.foreign == 0
