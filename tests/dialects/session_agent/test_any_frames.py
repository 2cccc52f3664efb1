"""Whatever frames come in whatever order, a strict client reads the stream to its end."""

import random

import pytest

from support import session_agent_frames as f
from support.seeds import each_seed
from support.session_agent_pool import pool
from support.turns import wait
from turnwire.core.agent import AbortScope
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects.session_agent import SessionAgent
from turnwire.testing.client_model import Client

DIALECT = SessionAgent()


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
