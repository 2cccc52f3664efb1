"""What the reference agent answers to which prompt, as a gateway hears it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosedError

from turnwire.cli.doctor import PROMPT
from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.brain import TRY
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.line import kinds, line, text
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets


def tools(frames: list[Json]) -> list[Json]:
    return [frame for frame in frames if frame["type"] == "message.part.tool-update"]


async def test_the_calculator_computes() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("what is 12*7?")

        assert kinds(frames) == [
            *("message.create", "agentStatus"),
            *["chunk", "message.part.text-delta"] * 5,
            *("agentStatus", "message.part.tool-update", "agentStatus"),
            *["chunk", "message.part.text-delta"] * 3,
            *("message.finalize", "complete"),
        ]
        pending, running, completed = tools(frames)
        assert (pending["status"], "args" in pending) == ("pending", False)
        assert (running["status"], running["args"]) == ("running", {"expression": "12*7"})
        assert completed["result"] == {"expression": "12*7", "value": 84}
        assert text(frames).endswith("12*7 is **84**.\n")


def noon() -> datetime:
    return datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("calculate (3+4)**2", "(3+4)**2 is **49**.\n"),
        ("How much is 1 + 1 ?", "1 + 1 is **2**.\n"),
        ("what time is it in Tokyo?", "In Tokyo it is **21:00** on Saturday, 21 November 2026.\n"),
        ("what's the time", "In UTC it is **12:00** on Saturday, 21 November 2026.\n"),
        ("what time is it in Atlantis", "did not help: I know no time zone called 'Atlantis'.\n"),
        ("search for keepalive", "I found:\n\n- **Tour** (`README.md`): A keepalive a day.\n"),
        ("search for nonsense!", "Nothing found in 1 page.\n"),
        ("search the docs for ??", "No luck: Tell me at least one word to search for.\n"),
        ("think", "I thought about nothing in particular: 3 words.\n"),
        ("on 2026-11-21 we met", "> on 2026-11-21 we met\n\nThings to try:\n\n" + TRY),
        ("9 " * 2_000, "flood 5000` and `say nothing` try a client's patience\n"),
    ],
)
async def test_the_same_prompt_gets_the_same_answer(
    prompt: str, answer: str, tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_text("# Tour\n\nA keepalive a day.\n")
    async with ReferenceAgent(now=noon, docs=tmp_path) as agent, line(agent.url) as ours:
        frames = await ours.turn(prompt)

        assert text(frames).endswith(answer)


@pytest.mark.parametrize("prompt", ["divide 1 by 0", "make the tool fail"])
async def test_a_failed_tool_does_not_fail_the_turn(prompt: str) -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn(prompt)

        failed = tools(frames)[-1]
        assert (failed["status"], failed["error"]) == ("error", "Division by zero.")
        assert frames[-2]["reason"] == "end_turn"


async def test_a_turn_can_fail() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("make the turn fail")

        final = next(f for f in frames if f["type"] == "message.finalize")
        assert final["reason"] == "error"
        assert final["error"] == "The agent was told to fail this turn."


async def test_a_turn_can_be_empty() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("say nothing")

        assert kinds(frames) == ["message.create", "agentStatus", "message.finalize", "complete"]
        assert "finalText" not in frames[-2]


async def test_a_flood_brings_every_delta() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("say 5000 deltas")

        assert text(frames) == "".join(f"{n} " for n in range(5000))
        assert text(frames, "chunk", "content") == text(frames)


async def test_it_counts_as_the_doctor_asks_it_to() -> None:
    async with ReferenceAgent(Habits(slow_s=0)) as agent, line(agent.url) as ours:
        said = text(await ours.turn(PROMPT)).splitlines()

    assert (said[0], said[20], said[-1], len(said)) == ("one", "twenty-one", "sixty", 60)


async def test_a_slow_turn_can_be_stopped_between_two_deltas() -> None:
    async with ReferenceAgent(Habits(slow_s=3600)) as agent, line(agent.url) as ours:
        await ours.ask("be slow")
        await ours.hear("message.part.text-delta")
        await ours.say(type="abort", promptId="p1")

        assert (await ours.hear("message.finalize"))["reason"] == "canceled"


async def test_reasoning_comes_before_text() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("think about rivers")

        order = kinds(frames)
        assert order.index("message.part.reasoning-delta") < order.index("chunk")
        assert "rivers" in text(frames, "message.part.reasoning-delta")


async def test_a_prompt_that_is_refused_begins_no_turn() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("refuse this prompt", "p1")
        refused = await ours.hear("error")
        await ours.ask("   ", "p2")
        empty = await ours.hear("error")

        assert refused["error"] == "The agent was told to refuse this prompt."
        assert (empty["error"], empty["promptId"]) == ("Missing content or attachments", "p2")
        assert "message.create" not in kinds(ours.received)


async def test_hanging_up_breaks_the_line_in_mid_turn() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("hang up")
        with pytest.raises(ConnectionClosedError):
            await ours.hear("complete")

        assert "chunk" in kinds(ours.received)
        await agent.until(lambda: agent.connections == 0)
