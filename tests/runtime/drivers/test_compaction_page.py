"""The example of docs/agent-durability.md makes a conversation shorter, as the page says."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.drivers.model_agent import playing, says
from runtime.host.hosted import Frame, words
from runtime.llm.scripted_server import response, sends
from turnwire_agent.drivers.model import Compaction
from turnwire_agent.loop.words import LOSSES

pytestmark = pytest.mark.sockets
PAGE: Final = Path(__file__).parents[3] / "docs/agent-durability.md"
TOO_LONG: Final = sends(response(400, {"error": {"code": "context_length_exceeded"}}))


@pytest.fixture
def compaction() -> Compaction:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    given: dict[str, Any] = {}
    exec(block, given)  # noqa: S102 (our own page)
    function: Compaction = given["agent"].compaction
    return function


def sent(body: bytes) -> list[str]:
    """What a model was sent, without the instructions."""
    return [each["content"] for each in json.loads(body)["messages"] if each["role"] != "system"]


def why(frames: list[Frame]) -> str:
    """The error with which a turn ended."""
    (error,) = [each["error"] for each in frames if each["type"] == "message.finalize"]
    return str(error)


async def test_the_newest_half_is_kept_for_this_turn_and_the_next(compaction: Compaction) -> None:
    scripts = [says("A"), says("B"), says("C"), TOO_LONG, says("D"), says("E")]
    async with playing(scripts, compaction=compaction) as play, play.host.socket() as socket:
        for prompt, answer in zip("abcde", "ABCDE", strict=True):
            assert words(await socket.turn(prompt, prompt)) == answer
        bodies = [sent(asked.body) for asked in play.provider.asked]

    assert bodies[3] == ["a", "A", "b", "B", "c", "C", "d"]
    assert bodies[4] == ["c", "C", "d"]
    assert bodies[5] == ["c", "C", "d", "D", "e"]


async def test_one_prompt_alone_is_not_made_shorter(compaction: Compaction) -> None:
    async with playing([TOO_LONG], compaction=compaction) as play, play.host.socket() as socket:
        frames = await socket.turn("a")
        asked = len(play.provider.asked)

    assert why(frames) == LOSSES["context-overflow"]
    assert asked == 1


async def test_what_is_still_too_long_ends_the_turn(compaction: Compaction) -> None:
    scripts = [says("A"), TOO_LONG, TOO_LONG, says("C")]
    async with playing(scripts, compaction=compaction) as play, play.host.socket() as socket:
        await socket.turn("a", "a")
        frames = await socket.turn("b", "b")
        assert words(await socket.turn("c", "c")) == "C"

    assert why(frames) == LOSSES["context-overflow"]
