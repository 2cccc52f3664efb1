"""The reference agent with the habit of recognising a prompt that came before."""

import pytest

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.line import line, text
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

KNOWS = Habits(recognise=True, quick_s=0.01)
SHOW = {
    "text": "what is 12*7?",
    "thoughts": "think about rivers",
    "file": "send me a file",
    "sources": "cite two sources",
    "expired": "ask quickly",
}


def content_of(frames: list[Json]) -> list[Json]:
    """What a turn tells, with neither its ids nor its deltas in pieces nor states in between."""
    meant = [f for f in frames if f["type"].startswith(("message.part", "question"))]
    plain = [f for f in meant if f.get("status") not in {"pending", "running"}]
    return [f for f in plain if "delta" not in f]


@pytest.mark.parametrize("prompt", SHOW.values(), ids=SHOW.keys())
async def test_a_turn_that_is_over_is_told_to_the_one_who_asks_again(prompt: str) -> None:
    async with ReferenceAgent(KNOWS) as agent, line(agent.url) as ours:
        frames = await ours.turn(prompt, "p1", clientMessageId="m1")
        async with line(agent.url) as other:
            again = await other.turn(prompt, "p2", clientMessageId="m1")
        await ours.say(type="ping")
        await ours.hear("pong")

        assert again[0] == frames[0] | {"promptId": "p2"}
        assert content_of(again) == content_of(frames)
        reasoning = "message.part.reasoning-delta"
        assert text(again) == text(frames) == text(again, "chunk", "content")
        assert text(again, reasoning) == text(frames, reasoning)
        assert again[-2] == {k: v for k, v in frames[-2].items() if k != "usage"}
        assert again[-1] == frames[-1] | {"promptId": "p2"}
        assert len(agent.journal.runs) == 1
        assert [f["type"] for f in ours.received].count("message.create") == 1


async def test_a_turn_that_runs_is_told_from_its_beginning_and_can_be_stopped() -> None:
    async with ReferenceAgent(KNOWS) as agent, line(agent.url) as ours, line(agent.url) as other:
        await ours.ask("hang", "p1", clientMessageId="m1")
        await ours.hear("chunk", content="me. ")
        await other.hear("message.part.text-delta", delta="me. ")
        before = len(other.received)
        await other.ask("hang", "p2", clientMessageId="m1")
        created = await other.hear("message.create", promptId="p2")
        await other.hear("message.part.text-delta")
        again = text(other.received[before:])
        await other.say(type="abort", promptId="p2")
        final = await other.hear("message.finalize")

        assert created["turnId"] == final["turnId"] == agent.journal.runs[0].turn_id
        assert again == final["finalText"]
        assert final["reason"] == "canceled"


async def test_an_answered_question_is_told_with_its_answer() -> None:
    async with ReferenceAgent(KNOWS) as agent, line(agent.url) as ours:
        await ours.ask("ask me", clientMessageId="m1")
        question = await ours.hear("question")
        await ours.say(type="answer", questionId=question["questionId"], answer="red")
        resolved = await ours.hear("question.resolved")
        await ours.hear("complete")
        again = await ours.turn("ask me", "p2", clientMessageId="m1")

        assert content_of(again) == [question, resolved]


async def test_a_prompt_that_waits_begins_once_for_both() -> None:
    async with ReferenceAgent(KNOWS) as agent, line(agent.url) as ours, line(agent.url) as other:
        await ours.ask("hang", "p0")
        await ours.ask("say 2 deltas", "p1", clientMessageId="m1")
        await agent.until(lambda: agent.session("s1").queued == 1)
        await other.ask("say 2 deltas", "p2", clientMessageId="m1")
        await other.say(type="abort", promptId="p0")
        created = await other.hear("message.create", promptId="p2")
        await other.hear("complete", promptId="p1")

        assert [r.prompt_id for r in agent.journal.runs] == ["p0", "p1"]
        assert created["turnId"] == agent.journal.runs[1].turn_id


async def test_a_prompt_that_waits_is_taken_back_for_both() -> None:
    async with ReferenceAgent(KNOWS) as agent, line(agent.url) as ours, line(agent.url) as other:
        await ours.ask("hang", "p0")
        await ours.ask("hello", "p1", clientMessageId="m1")
        await agent.until(lambda: agent.session("s1").queued == 1)
        await other.ask("hello", "p2", clientMessageId="m1")
        await other.say(type="abort", promptId="p2")

        assert (await other.hear("error"))["promptId"] == "p1"
        assert (await other.hear("error"))["promptId"] == "p2"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {}),
        ({"clientMessageId": "m1"}, {"clientMessageId": "m2"}),
        ({"clientMessageId": "m1"}, {"clientMessageId": "m1", "channelId": "side"}),
        ({"clientMessageId": "m1"}, {"clientMessageId": "m1", "regenerate": True}),
        ({"clientMessageId": "m1"}, {"clientMessageId": "m1", "edit": True}),
        ({"clientMessageId": "m1", "content": "make the turn fail"}, {"clientMessageId": "m1"}),
    ],
)
async def test_anything_else_is_a_turn_of_its_own(first: Json, second: Json) -> None:
    async with ReferenceAgent(KNOWS) as agent, line(agent.url) as ours:
        for prompt_id, fields in (("p1", first), ("p2", second)):
            await ours.turn(**({"content": "say nothing", "prompt_id": prompt_id} | fields))

        assert [r.prompt_id for r in agent.journal.runs] == ["p1", "p2"]


async def test_without_the_habit_the_same_message_runs_again() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        for prompt_id in ("p1", "p2"):
            await ours.turn("say nothing", prompt_id, clientMessageId="m1")

        assert [r.prompt_id for r in agent.journal.runs] == ["p1", "p2"]
