"""Short random turns by the thousand: none breaks a promise to its client."""

from random import Random

import pytest

from support import v2_frames as f
from support.form import either
from support.v2_pool import ENDINGS, OTHER_FRAMES, RETRACTED, TEXTS, TOLD
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Drain, Held, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.testing.client_model import BrokenPromiseError, Client


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
        elif frame in RETRACTED:
            told = [max(told)] * 2
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
    "the [six promises](test-a-dialect.md#what-is-tested) hold",
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
