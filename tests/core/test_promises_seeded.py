"""Short random turns by the thousand: none breaks a promise to its client."""

from random import Random
from typing import Any

import pytest

from support import v2_frames as f
from support.client_model import BrokenPromiseError, Client
from support.form import either
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Drain, Held, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

WORDS = ("a", "b ", "\n\n", "é", "\u2028", "\0", "\U0001f600", 'data: {"x"')
TOLD = {
    spell(word): (number, word) for number, spell in enumerate((f.part, f.chunk)) for word in WORDS
}
VALUE: dict[str, Any] = {
    "args": {"__proto__": "\u2028", "a": [1, None]},
    "result": "\ud83d",
    "error": "no\x1b",
}
NO_VALUE: dict[str, Any] = {}
OTHER_FRAMES = (
    *f.NOISE,
    *(
        f.begin(),
        f.begin("turn-9", "p9"),
        f.create("turn-8", channelType="slack"),
        f.finalize("turn-9"),
    ),
    *(f.part("secret", "turn-9"), f.chunk("secret", "turn-8"), f.tool("running", turn="turn-9")),
    *(
        f.tool(status, call, **fields)
        for status in ("pending", "running", "completed", "error")
        for call in ("c1", "c2")
        for fields in (NO_VALUE, VALUE)
    ),
    *(f.reasoning("hm"), f.reasoning("\ud83d"), f.question(), f.question("q2", turnId=f.OURS)),
    *(
        f.file(),
        f.file("javascript:1"),
        f.file(turn="turn-9"),
        f.source(),
        f.source(title="\ud83d"),
    ),
    *(f.frame(f"question.{how}", questionId="q1") for how in ("resolved", "expired")),
    *(f.frame("agentStatus", status="thinking"), f.init(runnerBusy=True), f.init()),
    *(f.frame("error", error="no", turnId="turn-9"), f.frame("complete", turnId="turn-9")),
)
ENDINGS = (
    *(f.finalize(reason=reason) for reason in ("end_turn", "error", "canceled", "?")),
    *(f.frame("complete"), f.frame("error", error="boom"), f.finalize(finalText="another")),
    *(b"left", b"late", b"drain", b"gone", b"overflow"),
)
TEXTS = tuple(TOLD)


def play(seed: int) -> None:
    """Run one turn.

    Raises:
        BrokenPromiseError: a promise is broken.

    """
    dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
    turn = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT)),
        Limits(),
        UIMessageStream(),
    )
    client, said, told, now = Client(), "", [0, 0], 0.0
    client.read(turn.handle(Opened(), now).to_client)
    if dice.random() < 0.9:
        client.read(turn.frames([f.begin()], now).to_client)
    for _ in range(dice.randrange(9)):
        frame = dice.choice(TEXTS if dice.random() < 0.5 else OTHER_FRAMES)
        now += dice.choice((0.0, 0.5))
        if frame in TOLD and turn.turn_id is not None:
            spelling, word = TOLD[frame]
            if told[0] != told[1] and told[spelling] == min(told):  # it must repeat the other
                word = said.encode("utf-16-le")[2 * told[spelling] :].decode("utf-16-le")
                frame = (f.part, f.chunk)[spelling](word)
            else:
                said += word
            told[spelling] += len(word.encode("utf-16-le")) // 2
        client.read(turn.frames([frame], now).to_client)
        if client.text != said:
            raise BrokenPromiseError(f"{client.text!r} for {said!r}")
    end(turn, dice.choice(ENDINGS), now, client)


def end(turn: Turn, ending: bytes, now: float, client: Client) -> None:
    match ending:
        case b"left":
            act = turn.handle(AgentLeft(), now)
        case b"late":
            act = turn.handle(Tick(), now + 700)
        case b"drain":
            turn.handle(Drain(), now)
            act = turn.handle(Tick(), now + 31)
        case b"gone":
            assert (
                turn.handle(ClientLeft(), now).to_client
                == turn.handle(AgentLeft(), now).to_client
                == b""
            )
            assert turn.outcome is not None
            return
        case b"overflow":
            act = turn.handle(Held(2**21), now)
        case _:
            act = turn.frames([ending, *OTHER_FRAMES[:3], *TEXTS[:2]], now)
    client.read(act.to_client)
    client.read(turn.handle(AgentLeft(), now).to_client)
    client.close()
    assert turn.frames([f.begin(), *TEXTS], now) == turn.handle(Tick(), now + 9_999)


@pytest.mark.fault(
    "frames come doubled, reordered, late, malformed or of another turn",
    "the six promises hold",
)
@pytest.mark.long
@pytest.mark.parametrize("block", range(4))
def test_two_thousand_random_turns_break_no_promise(block: int) -> None:
    for seed in range(500 * block, 500 * block + 500):
        play(seed)


# All hundred thousand with LONG=1.
@pytest.mark.long
@pytest.mark.no_cover  # the others cover it; measuring doubles the time of this many turns
@pytest.mark.timeout(300)
@pytest.mark.parametrize("block", range(either(1, 10)))
def test_ten_thousand_random_turns_break_no_promise(block: int) -> None:
    first = 2_000 + 10_000 * block
    for seed in range(first, first + 10_000):
        play(seed)
