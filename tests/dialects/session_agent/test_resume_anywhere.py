"""Wherever a stream is resumed, it tells the turn that its first stream told, and none aborts."""

import json
import random
from collections.abc import Iterator

import msgspec
import pytest

from support import session_agent_frames as f
from support.seeds import each_seed
from support.session_agent_pool import pool
from support.session_agent_turn import PROMPT, Step, TurnEntry
from support.turns import wait
from turnwire.core.agent import Decoded
from turnwire.core.events import Event, TextDelta, TurnStarted
from turnwire.core.operations import History
from turnwire.core.operations import HistoryTurn as Turned
from turnwire.core.requests import ResumeRequest
from turnwire.core.turn.inputs import Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.messages import ui_messages
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects.session_agent import SessionAgent
from turnwire.testing.client_model import Client

LOOK = ResumeRequest(user_id=f.ME, init_s=5)


def frames_after_init(revision: str, *, lags: bool) -> Iterator[tuple[bytes, bytes]]:
    """The frames of a turn, and before each the `init` that says what came before it.

    Where it lags it has of the text only what was said up to the last tool.
    """
    turn, kept = TurnEntry(revision), TurnEntry(revision).written()
    steps: list[Step | None] = [
        "A1 ",
        "A2 ",
        ("c1", "pending"),
        ("c1", "running"),
        ("c1", "completed"),
        "B1 ",
        "B2 ",
    ]
    steps += [("c2", "running"), "C1 ", ("c3", "pending"), ("c2", "error"), ("c3", "completed")]
    for step in [*steps, "D1 ", "D2 ", None]:
        if revision == "R":
            hello = json.loads(f.init("R", runnerBusy=True))
            hello["session"]["messages"] = [PROMPT, kept if lags else turn.written()]
            before = json.dumps(hello).encode()
        else:
            before = f.init(revision, runnerBusy=True)
        match step:
            case str():
                frame = turn.take(step)
            case (call_id, status):
                turn.tool(call_id, status)
                frame = turn.updated()
                kept = turn.written()
            case None:
                turn.finish("D1 D2 ")
                frame = turn.updated()
        yield before, frame


def events(said: Decoded | str | None) -> list[Event]:
    if said is None:
        return []
    return [TextDelta(said)] if isinstance(said, str) else list(said.events)


def message(said: list[Event]) -> tuple[str, list[dict[str, object]]]:
    """What a client holds that heard this, but for its steps.

    A call that moved on since is told with its outcome, so that a step may end there.
    """
    (start,) = [event for event in said if isinstance(event, TurnStarted)]
    rest = [event for event in said if not isinstance(event, TurnStarted)]
    (held,) = msgspec.json.decode(ui_messages(History([Turned(start.turn_id, rest)])))
    return held["id"], [part for part in held["parts"] if part["type"] != "step-start"]


@pytest.mark.parametrize("lags", [True, False])
@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_turn_is_told_alike_wherever_it_is_resumed(revision: str, *, lags: bool) -> None:
    frames = list(frames_after_init(revision, lags=lags))
    first = SessionAgent().resume(LOOK)
    original = [f.init(revision, runnerBusy=True), f.begin(), *(frame for _, frame in frames)]
    whole = message(
        [event for frame in original for event in events(first.receive_frame(frame, 0))]
    )

    for place, (hello, _) in enumerate(frames):
        resumed = SessionAgent().resume(LOOK)
        heard = [hello, *(frame for _, frame in frames[place:])]
        said = [event for frame in heard for event in events(resumed.receive_frame(frame, 0))]

        assert message(said) == whole, place


@pytest.mark.parametrize("revision", f.REVISIONS)
@each_seed(40)
def test_any_frames_in_any_order_make_a_stream_that_ends_or_none(revision: str, seed: int) -> None:
    dice = random.Random(f"resumed {revision}{seed}")  # noqa: S311 (a test's dice)
    conversation = SessionAgent().resume(LOOK)
    turn, client = Turn(conversation, Limits(hold_s=2 * LOOK.init_s), UIMessageStream()), Client()
    hello = f.init(revision, runnerBusy=dice.random() > 0.1)
    # One that ends on our channel while we look is taken for the one that runs there.
    known = [frame for frame in pool(revision) if frame != f.done("foreign", "T9")]
    frames = [hello, *dice.choices(known, k=60)]
    now = 0.0
    client.read(turn.handle(Opened(), now).to_client)

    for frame in frames:
        now += dice.choice([0.0, 0.1, 1.0])
        for act in (turn.handle(Tick(), now), turn.frames([frame], now)):
            client.read(act.to_client)
            assert b"abort" not in b"".join(act.to_agent)
    for _, act in wait(turn, 10_000):
        client.read(act.to_client)

    assert turn.outcome is not None
    assert "foreign" not in client.text
    if turn.outcome is not Outcome.NOTHING:
        client.close()
