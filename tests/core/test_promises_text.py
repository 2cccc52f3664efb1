"""P4 from end to end: the client has the text that the agent means, once, however it is told."""

from random import Random

import pytest

from support import v2_frames as f
from support.form import either
from support.intended import Agent, solid
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.testing.client_model import Client

V2 = DIALECTS["v2"]


def play(seed: int, *, comes_back: bool = False) -> None:
    """Run one turn, and compare what its client has whenever both spellings rest."""
    dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
    agent, client = Agent(dice), Client()
    if comes_back:
        for _ in range(dice.randint(0, 4)):
            says(agent, dice)
        turn = Turn(V2.resume(ResumeRequest(user_id="u1", init_s=5)), Limits(), UIMessageStream())
        begin = agent.init()
    else:
        turn = Turn(
            V2.prompt(PromptRequest(text="hi", prompt_id=f.PROMPT)), Limits(), UIMessageStream()
        )
        begin = f.begin()
    client.read(turn.handle(Opened(), 0).to_client)
    client.read(turn.frames([begin], 0).to_client)
    for _ in range(dice.randint(0, 8)):
        told = says(agent, dice)
        at_once = dice.choice((1, 3, len(told)))
        for first in range(0, len(told), at_once):
            client.read(turn.frames(told[first : first + at_once], 0).to_client)
        assert client.text == agent.whole, f"seed {seed}"
    tail = dice.choice(("", "", " tail, and more\n"))
    final = agent.final_text(tail)
    fields = {} if final is None else {"finalText": final}
    client.read(turn.frames([f.finalize(**fields)], 0).to_client)
    client.close()
    assert client.text.startswith(agent.whole), f"seed {seed}"
    assert solid(client.text) == solid(agent.whole + tail), f"seed {seed}: {final!r}"


def says(agent: Agent, dice: Random) -> list[bytes]:
    return list(agent.says()) if dice.random() < 0.75 else [agent.uses_tool()]


@pytest.mark.fault(
    "the agent sends a text in both delta frames, or changes from one to the other in mid-turn, "
    "and repeats the text at the end",
    "the client has the whole text once",
)
@pytest.mark.parametrize("block", range(either(2, 40)))
def test_the_client_has_the_text_that_is_meant_however_it_is_sent(block: int) -> None:
    for seed in range(500 * block, 500 * block + 500):
        play(seed)


@pytest.mark.parametrize("block", range(either(1, 40)))
def test_whoever_comes_back_has_it_once_too(block: int) -> None:
    for seed in range(500 * block, 500 * block + 500):
        play(seed, comes_back=True)
