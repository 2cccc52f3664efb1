"""What the reference agent tells of a turn as a model writes it, and what `init` keeps of that."""

import pytest

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.line import GatewayLine, kinds, line, text
from turnwire_lab.agents.v2.parts import Called, Retracted, StepBegan, TextBlock, position, standing
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

STEP, RETRACT = "message.part.step", "message.part.retract"
STANDS = (
    "I work it out twice. 6*7 is **42**. Here is what stands: the first attempt was taken back. "
    "6*7 is **42**. That is all.\n"
)


async def entries(agent: ReferenceAgent) -> list[Json]:
    async with line(agent.url) as later:
        init = await later.hear("init")
    told: list[Json] = init["session"]["messages"]
    return told


async def lost(ours: GatewayLine) -> list[Json]:
    """Ask for a lost attempt, and return the frames until it is taken back."""
    await ours.ask("lose an attempt")
    await ours.hear(RETRACT)
    return ours.received


async def test_a_lost_attempt_is_taken_back_from_where_its_step_began() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("lose an attempt")

        marks = [frame for frame in frames if frame["type"] in {STEP, RETRACT}]
        assert [mark["type"] for mark in marks] == [STEP, STEP, RETRACT, STEP, STEP]
        # A text, a call and a text stand before it.
        assert marks[2]["since"] == 3
        assert "The line to the model will break" in text(frames)
        final = next(frame for frame in frames if frame["type"] == "message.finalize")
        assert (final["finalText"], final["finishReason"]) == (STANDS, "stop")


async def test_init_keeps_what_was_taken_back_and_its_mark() -> None:
    async with ReferenceAgent(Habits(pace_s=0.02)) as agent, line(agent.url) as ours:
        await lost(ours)
        (_, running) = await entries(agent)
        await ours.hear("complete")
        (_, over) = await entries(agent)

    for entry in (running, over):
        kept = [part["type"] for part in entry["parts"][:8]]
        assert kept == ["step", "text", "tool-call", "text", "step", "text", "tool-call", "retract"]
        attempt = entry["parts"][6]
        assert (attempt["status"], attempt["inputText"]) == ("pending", '{"expression": "6 * ')
    assert [part["type"] for part in over["parts"][8:]] == [
        *("step", "text", "tool-call", "text"),
        *("step", "text", "finish"),
    ]


async def test_one_that_asks_again_is_told_of_the_lost_attempt_too() -> None:
    habits = Habits(recognise=True, pace_s=0.02)
    async with ReferenceAgent(habits) as agent, line(agent.url) as ours, line(agent.url) as later:
        await ours.ask("lose an attempt", clientMessageId="m1")
        await ours.hear(RETRACT)
        again = await later.turn("lose an attempt", "p2", clientMessageId="m1")

    told = [frame["type"] for frame in again]
    create = max(n for n, kind in enumerate(told) if kind == "message.create")
    assert told[create:].count(RETRACT) == 1
    pieces = [frame["argsDelta"] for frame in again[create:] if frame.get("argsDelta")]
    assert pieces == ['{"expression": "6 * ']


async def test_an_input_is_told_in_pieces_and_then_whole() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("write a query about resume and stop")

    updates = [frame for frame in frames if frame["type"] == "message.part.tool-update"]
    pieces = "".join(update.get("argsDelta", "") for update in updates)
    assert pieces == '{"query":"resume and stop"}'
    assert [update["status"] for update in updates if "argsDelta" not in update] == [
        *("running", "completed"),
    ]
    assert updates[-1]["args"] == {"query": "resume and stop"}


async def test_two_steps_without_a_tool() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("take two steps")

    assert kinds(frames).count(STEP) == 2
    assert "finishReason" not in next(f for f in frames if f["type"] == "message.finalize")


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [("stop short", "length"), ("stop short after too many steps", "max-steps")],
)
async def test_an_answer_that_is_not_whole_says_why(prompt: str, reason: str) -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn(prompt)

    final = next(frame for frame in frames if frame["type"] == "message.finalize")
    assert final["finishReason"] == reason


async def test_cached_tokens_and_those_of_reasoning_are_counted() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("think about rivers")

    usage = next(frame for frame in frames if frame["type"] == "message.finalize")["usage"]
    assert usage["cachedInputTokens"] == 1
    assert usage["reasoningTokens"] > 10


async def test_a_turn_that_is_stopped_after_a_loss_ends_only_what_stands() -> None:
    async with ReferenceAgent(Habits(pace_s=0.05)) as agent, line(agent.url) as ours:
        turn_id = (await lost(ours))[-1]["turnId"]
        await ours.hear("message.part.tool-update")
        await ours.say(type="abort", turnId=turn_id, promptId="p1")
        final = await ours.hear("message.finalize", turnId=turn_id)
        (_, over) = await entries(agent)

    calls = [part for part in over["parts"] if part["type"] == "tool-call"]
    assert [call["status"] for call in calls] == ["completed", "pending", "error"]
    assert "line to the model" not in final["finalText"]


def test_what_stands_is_what_no_later_mark_takes_back() -> None:
    one, two, three = TextBlock("text", ["1"]), Called("c", "t"), TextBlock("text", ["3"])
    step = StepBegan()

    assert standing([step, one, Retracted(0), step, two]) == [step, step, two]
    assert standing([one, two, Retracted(1), three, Retracted(5)]) == [one, three]
    assert position([step, one, step, two, Retracted(1), step]) == 1
