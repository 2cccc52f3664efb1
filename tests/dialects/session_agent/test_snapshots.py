"""The client has the text that the agent means, once, in each revision and however it ends."""

import json
from collections.abc import Sequence
from random import Random

import pytest

from support import session_agent_frames as f
from support.intended import solid
from support.session_agent_turn import PROMPT, TurnEntry
from support.turns import wait
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects.session_agent import SessionAgent
from turnwire.testing.client_model import Client

DIALECT = SessionAgent()
TAIL = " tail, and more\n"


class Agent:
    """What it means is `stretches`, one for each time between tools; `frames` tell it."""

    def __init__(self, dice: Random, revision: str) -> None:
        self.stretches = [""]
        self.frames: list[bytes] = []
        self.before: list[bytes] = []
        """What `init` says to whoever comes before each of the frames."""
        self._dice = dice
        self._turn = TurnEntry(revision)
        self._says_at_the_end = dice.random() < 0.2
        """Nothing is told by `chunk`: all of it comes with the end."""
        for number in range(dice.randrange(9)):
            if dice.random() < 0.3:
                self._use_tool(number)
            else:
                self._say(number)

    @property
    def whole(self) -> str:
        return "".join(self.stretches)

    def end(self, tail: str) -> str:
        """End the turn, and return the text that is meant by then."""
        said = [stretch for stretch in self.stretches if stretch.strip()]
        last = self.stretches[-1]
        ways = [last, last.strip()]
        if self._says_at_the_end or not last.strip():
            ways = [self.whole]
        elif self._turn.revision != "R":  # which has of all text parts the final text alone
            ways += [self.whole, "\n".join(map(str.strip, said))]
        final = self._dice.choice(ways)
        hello = self._hello()
        is_told = bool(tail or self._says_at_the_end) or self._dice.random() < 0.7
        self._turn.finish(final + tail if is_told else None)
        self._tell(hello, self._turn.updated())
        return self.whole + tail

    def _say(self, number: int) -> None:
        space = self._dice.choice(("", " ", "\n", ".\n\n", " é", "\U0001f600"))
        piece = f"{self._dice.choice(('', 'The ', ' '))}w{number:04}{space}"
        self.stretches[-1] += piece
        if not self._says_at_the_end:
            self._tell(self._hello(), f.chunk(piece))
            self._turn.say(piece)

    def _use_tool(self, number: int) -> None:
        if not self._says_at_the_end:
            self.stretches.append("")
        for status in ("running", "completed"):
            hello = self._hello()
            self._turn.tool(f"c{number}", status)
            self._tell(hello, self._turn.updated())

    def _hello(self) -> bytes:
        hello = json.loads(f.init(self._turn.revision, runnerBusy=True))
        if self._turn.revision == "R":
            hello["session"]["messages"] = [PROMPT, self._turn.written()]
        return json.dumps(hello).encode()

    def _tell(self, hello: bytes, frame: bytes) -> None:
        self.before.append(hello)
        self.frames.append(frame)


def read(turn: Turn, frames: Sequence[bytes]) -> Client:
    client = Client()
    client.read(turn.handle(Opened(), 0).to_client)
    for frame in frames:
        client.read(turn.frames([frame], 0).to_client)
    for _, act in wait(turn, 10_000):
        client.read(act.to_client)
    client.close()
    return client


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_the_client_has_the_text_that_is_meant_however_it_is_sent(revision: str) -> None:
    for seed in range(150):
        dice = Random(f"{revision}{seed}")  # noqa: S311 (a seed, so that it can be seen again)
        agent = Agent(dice, revision)
        meant = agent.end(dice.choice(("", "", TAIL)))
        asked = DIALECT.prompt(PromptRequest(text="two", prompt_id="p1", user_id=f.ME))
        frames = [*f.running(revision), *agent.frames, f.drained(revision)]

        client = read(Turn(asked, Limits(idle_s=DIALECT.idle_s), UIMessageStream()), frames)

        assert solid(client.text) == solid(meant), seed
        assert client.text.startswith(agent.whole.rstrip()), seed


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_whoever_comes_back_has_it_once_too(revision: str) -> None:
    for seed in range(150):
        dice = Random(f"back {revision}{seed}")  # noqa: S311 (a seed, so that it can be seen again)
        agent = Agent(dice, revision)
        meant = agent.end(dice.choice(("", "", TAIL)))
        place = dice.randrange(len(agent.frames))
        look = DIALECT.resume(ResumeRequest(user_id=f.ME, init_s=5))
        frames = [agent.before[place], *agent.frames[place:], f.drained(revision)]

        client = read(
            Turn(look, Limits(idle_s=DIALECT.idle_s, hold_s=10), UIMessageStream()), frames
        )

        assert solid(client.text) == solid(meant), seed


@pytest.mark.parametrize(("final", "text"), [("ab", "ab"), ("a", "a"), ("c", "ac")])
def test_a_turn_started_over_that_says_all_at_its_end_says_nothing_again(
    final: str, text: str
) -> None:
    asked = DIALECT.prompt(PromptRequest(text="two", prompt_id="p1", user_id=f.ME))
    frames = [*f.running("V"), f.chunk("a"), f.begin("turn-2"), f.done(final, "turn-2")]

    client = read(Turn(asked, Limits(idle_s=DIALECT.idle_s), UIMessageStream()), frames)

    assert client.text == text
