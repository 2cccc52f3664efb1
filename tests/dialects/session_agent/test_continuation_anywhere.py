"""Wherever a client left a turn that asks: it answers, and its message is whole and told once."""

import itertools
import json
import random
from collections import Counter
from typing import Any, Final

import pytest
from msgspec import Raw

from support import session_agent_frames as f
from support.continued import chunks
from support.seeds import each_seed
from support.session_agent_pool import pool
from support.session_agent_resumed import INIT_S
from support.session_agent_turn import PROMPT, Step, TurnEntry
from support.turns import wait
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.requests import PromptRequest, QuestionReply, ResumeRequest
from turnwire.core.turn.inputs import Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.session_agent import SessionAgent

Json = dict[str, Any]

ASKED: Final[list[Step]] = [
    *("A1 ", "A2 ", ("c1", "pending"), ("c1", "running"), ("c1", "completed"), "B1 "),
    *(("c2", "running"), "C1 ", ("c9", "pending"), ("c9", "running"), "?"),
]
BESIDE: Final[list[Step]] = [("c3", "running"), ("c2", "error")]
"""While the question waits."""
AFTER: Final[list[Step]] = [
    ("c9", "completed"),
    ("c3", "completed"),
    "D1 ",
    "D2 ",
    ("c4", "completed"),
    "E ",
]
WHOLE: Final = "A1 A2 B1 C1 D1 D2 E "
CALLS: Final = {"c1", "c2", "c3", "c4", "c9"}


def known(told: list[Json]) -> ClientCopy:
    """What a client's message says of what it was told."""
    count = Counter(chunk["type"] for chunk in told)
    inputs = {c["toolCallId"] for c in told if c["type"] == "tool-input-available"}
    return ClientCopy(
        message_id="m1",
        text_chars=sum(len(chunk["delta"]) for chunk in told if chunk["type"] == "text-delta"),
        text_blocks=count["text-start"],
        pending=frozenset(inputs - outcomes(told)),
    )


def outcomes(told: list[Json]) -> set[str]:
    return {chunk["toolCallId"] for chunk in told if chunk["type"].startswith("tool-output")}


@pytest.mark.parametrize("lags", [True, False])
@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize("left", range(len(BESIDE) + 1))
def test_a_message_is_whole_wherever_its_client_left(
    revision: str, left: int, *, lags: bool
) -> None:
    """It may have left before what goes on beside the question, and answer after it."""
    entry = TurnEntry(revision)
    ask = PromptRequest(text="two", prompt_id="p1", user_id=f.ME)
    first = Turn(SessionAgent().prompt(ask), Limits(), UIMessageStream())
    first.handle(Opened(), 0)
    acts = [first.frames(f.running(revision), 0)]
    kept = entry.written()
    for place, step in enumerate([*ASKED, *BESIDE]):
        frame = entry.take(step)
        if not isinstance(step, str):
            kept = entry.written()
        if place < len(ASKED) + left:
            acts.append(first.frames([frame], 0))
    had = [chunk for act in acts for chunk in chunks(act)]

    hello = json.loads(f.init(revision, runnerBusy=True))
    if revision == "R":
        hello["session"]["messages"] = [PROMPT, kept if lags else entry.written()]
    look = ResumeRequest(user_id=f.ME, init_s=INIT_S, replies=[QuestionReply("q1", Raw(b'"yes"'))])
    second = Turn(
        SessionAgent().resume(look),
        Limits(hold_s=9),
        UIMessageStream(StreamOptions(client_copy=known(had))),
    )
    second.handle(Opened(), 0)
    frames = [json.dumps(hello).encode(), f.asked(revision), f.answered(revision)]
    frames += [entry.take(step) for step in AFTER]
    entry.finish("E ")
    frames.append(entry.updated())
    news = [chunk for frame in frames for chunk in chunks(second.frames([frame], 1))]

    texts = [chunk["delta"] for chunk in [*had, *news] if chunk["type"] == "text-delta"]
    assert "".join(texts) == WHOLE
    assert news[0] == {"type": "start", "messageId": "m1"}
    assert outcomes(had) | outcomes(news) == CALLS
    # A card of a step before the question's would be a second one.
    assert "c1" not in {chunk.get("toolCallId") for chunk in news}
    blocks = [chunk["id"] for chunk in [*had, *news] if chunk["type"] == "text-start"]
    assert len(set(blocks)) == len(blocks)
    given = {c["toolCallId"] for c in [*had, *news] if c["type"] == "tool-input-available"}
    assert outcomes(news) <= given


@pytest.mark.parametrize("revision", f.REVISIONS)
@each_seed(40)
def test_any_frames_after_the_answer_make_a_message_that_ends(revision: str, seed: int) -> None:
    dice = random.Random(f"continued {revision}{seed}")  # noqa: S311 (a test's dice)
    look = ResumeRequest(user_id=f.ME, init_s=INIT_S, replies=[QuestionReply("q1", Raw(b'"yes"'))])
    turn = Turn(
        SessionAgent().resume(look),
        Limits(hold_s=9),
        UIMessageStream(StreamOptions(client_copy=ClientCopy(message_id="m1"))),
    )
    turn.handle(Opened(), 0)
    asks = f.tool("running", "c9", "question", args={})
    hello = json.loads(f.init(revision, runnerBusy=True))
    if revision == "R":
        told = {"id": f.TURN, "role": "assistant", "content": "", "parts": [asks], **f.CHANNEL}
        hello["session"]["messages"] = [PROMPT, told]
    turn.frames([json.dumps(hello).encode(), f.asked(revision)], 0)
    now, acts = 0.0, []

    for frame in [f.answered(revision), *dice.choices(pool(revision), k=60)]:
        now += dice.choice([0.0, 0.1, 1.0])
        acts += [turn.handle(Tick(), now), turn.frames([frame], now)]
    acts += [act for _, act in wait(turn, 10_000)]

    kinds = [chunk["type"] for act in acts for chunk in chunks(act)]
    statuses = list(itertools.takewhile(lambda kind: kind == "data-agent-status", kinds))
    assert turn.outcome is not None
    assert kinds[len(statuses)] == "start"
    assert (kinds.count("start"), kinds.index("finish")) == (1, len(kinds) - 1)
