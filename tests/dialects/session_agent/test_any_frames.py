"""Whatever frames come in whatever order, a strict client reads the stream to its end."""

import random

import pytest

from support import session_agent_frames as f
from support.client_model import Client
from support.seeds import each_seed
from support.turns import wait
from turnwire.core.agent import AbortScope
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects.session_agent import SessionAgent

DIALECT = SessionAgent()
OTHER = {"channelType": "web", "channelId": "c2"}


def pool(revision: str) -> list[bytes]:
    """Frames that may come at any time; those of our turn more often."""
    calls = [
        f.tool(phase, call)
        for phase in ("pending", "running", "completed", "error")
        for call in "ab"
    ]
    ours = [
        *(f.begin(turn) for turn in (f.TURN, "turn-2")),
        *(f.chunk(said, turn) for said in ("x", "\ud83d", "\ude00") for turn in (f.TURN, "turn-2")),
        *(f.updated(f.text("x"), call, content="x") for call in calls),
        *(f.doing(what) for what in ("thinking", "streaming", "idle")),
        *(f.asked(revision, question) for question in ("q1", "q2")),
        *(f.answered(revision, question) for question in ("q1", "q2")),
        f.expired(revision),
    ]
    rare = [
        *(
            f.updated(f.text("xyz"), call, f.finish(end))
            for call in calls[:2]
            for end in ("error", "canceled")
        ),
        f.done("xyz"),
        f.drained(revision),
        f.status(runnerBusy=False, aborted=True),
        f.status(promptDequeued=True, messageId="P9", **f.CHANNEL),
        f.status(runnerDisconnected=True, queuedPrompts=1),
        f.status(queueCleared=True),
        f.status(status="error"),
        f.failure("no"),
        f.frame("error", message="no"),
        f.audit("user.abort"),
        f.begin("T9", **OTHER),
        f.chunk("foreign", "T9", **OTHER),
        f.done("foreign", "T9"),
        f.user("three", "P3", by="u2"),
        f.frame("queue.withdrawn", data={"messageId": f.PROMPT}),
        b"nonsense",
    ]
    return [*ours * 4, *rare]


@pytest.mark.parametrize("revision", f.REVISIONS)
@each_seed(40)
def test_any_frames_in_any_order_make_a_stream_that_ends(revision: str, seed: int) -> None:
    dice = random.Random(f"{revision}{seed}")  # noqa: S311 (a test's dice)
    conversation = DIALECT.prompt(PromptRequest(text="two", prompt_id="p1", user_id=f.ME))
    turn, client = Turn(conversation, Limits(idle_s=DIALECT.idle_s), UIMessageStream()), Client()
    opening = dice.choice([[f.user()], [*f.queued(revision), *f.dequeued(revision)], []])
    frames = [f.init(revision), *opening, *dice.choices(pool(revision), k=60)]
    now = 0.0
    client.read(turn.handle(Opened(), now).to_client)

    for frame in frames:
        now += dice.choice([0.0, 0.1, 1.0])
        client.read(turn.handle(Tick(), now).to_client)
        client.read(turn.frames([frame], now).to_client)
        assert bool(conversation.abort()) == (conversation.abort_scope is AbortScope.OURS)
    for _, act in wait(turn, 10_000):
        client.read(act.to_client)

    assert turn.outcome is not None
    assert "foreign" not in client.text
    client.close()
