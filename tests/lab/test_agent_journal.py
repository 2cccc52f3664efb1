"""What the reference agent's history and journal hold after stops, queues, edits and repeats."""

from collections.abc import Sequence

import pytest

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.history import Entry, History
from turnwire_lab.agents.v2.line import GatewayLine, line
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets


async def messages(agent: ReferenceAgent) -> list[Json]:
    async with line(agent.url) as later:
        init = await later.hear("init")
    told: list[Json] = init["session"]["messages"]
    return told


def prompts(told: Sequence[Json]) -> list[tuple[str, str]]:
    return [(entry["role"], entry["promptId"]) for entry in told]


async def test_the_journal_tells_how_each_turn_ended() -> None:
    async with ReferenceAgent() as agent, line(agent.url, x_turnwire_user="ann") as ours:
        created = (await ours.turn("say nothing", "p1"))[0]
        await ours.turn("make the turn fail", "p2")
        await ours.ask("hang", "p3")
        await ours.hear("chunk", content="much, ")
        open_run = agent.journal.runs[-1]
        assert (open_run.began, open_run.reason, open_run.aborted) == (True, None, False)
        await ours.say(type="abort", promptId="p3")
        await ours.hear("complete")

        runs = list(agent.journal.of("s1"))
        assert runs[0].turn_id == created["turnId"]
        assert [(r.prompt_id, r.began, r.reason, r.aborted) for r in runs] == [
            ("p1", True, "end_turn", False),
            ("p2", True, "error", False),
            ("p3", True, "canceled", True),
        ]
        assert {r.user_id for r in runs} == {"ann"}
        assert runs[2].aborted_by == "ann"
        assert list(agent.journal.of("s2")) == []


async def test_a_queued_prompt_that_is_taken_back_leaves_the_history() -> None:
    async with (
        ReferenceAgent() as agent,
        line(agent.url, x_turnwire_user="ann") as ours,
        line(agent.url, x_turnwire_user="bob") as other,
    ):
        await ours.ask("hang", "p1")
        await ours.ask("hello", "p2")
        asked = await ours.hear("message")
        while asked["data"]["promptId"] != "p2":
            asked = await ours.hear("message")
        waiting = await messages(agent)
        await other.say(type="abort", promptId="p2")
        removed = await ours.hear("messages.removed")
        told = await ours.hear("error")

        assert asked["data"] == waiting[-1]
        assert waiting[-1]["queued"] is True
        assert removed["messageIds"] == [waiting[-1]["id"]]
        assert told == {"type": "error", "error": "The prompt was taken back", "promptId": "p2"}
        assert prompts(await messages(agent)) == [("user", "p1"), ("assistant", "p1")]
        run = agent.journal.runs[-1]
        assert (run.began, run.reason, run.aborted_by) == (False, "canceled", "bob")


async def test_an_abort_that_comes_too_late_changes_nothing() -> None:
    async with ReferenceAgent() as agent, line(agent.url, x_turnwire_user="ann") as ours:
        await ours.ask("hang", "p1")
        await ours.hear("message.create")
        await ours.say(type="abort", promptId="p1")
        await ours.hear("complete")
        await ours.say(type="abort", promptId="p1")
        await ours.say(type="ping")
        await ours.hear("pong")

        assert [r.reason for r in agent.journal.runs] == ["canceled"]
        finals = [f for f in ours.received if f["type"] == "message.finalize"]
        assert len(finals) == 1


async def test_turns_stand_behind_their_prompts_whatever_came_in_between() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("hang", "p1")
        await ours.ask("say nothing", "p2")
        await ours.ask("say nothing", "p3")
        await agent.until(lambda: agent.session("s1").queued == 2)
        waiting = await messages(agent)
        await ours.say(type="abort", promptId="p1")
        await ours.hear("complete", promptId="p3")
        done = await messages(agent)

        assert [(e["role"], e.get("queued")) for e in waiting] == [
            ("user", None),
            ("assistant", None),
            ("user", True),
            ("user", True),
        ]
        assert prompts(done) == [
            (role, prompt) for prompt in ("p1", "p2", "p3") for role in ("user", "assistant")
        ]
        assert not any("queued" in entry for entry in done)


async def conversation(ours: GatewayLine) -> None:
    """Three turns, the second on another channel."""
    await ours.turn("what is 1+1?", "p1", clientMessageId="m1")
    await ours.turn("say nothing", "p2", clientMessageId="m2", channelId="side")
    await ours.turn("what is 2+2?", "p3", clientMessageId="m3")


@pytest.mark.parametrize(
    ("prompt", "left"),
    [
        ({"regenerate": True, "clientMessageId": "m3"}, ["p1", "p2", "p9"]),
        ({"regenerate": True}, ["p1", "p2", "p9"]),
        ({"regenerate": True, "clientMessageId": "made up by a client"}, ["p1", "p2", "p9"]),
        ({"regenerate": True, "clientMessageId": "m1"}, ["p2", "p9"]),
        ({"edit": True, "clientMessageId": "m1"}, ["p2", "p9"]),
        ({"edit": True, "clientMessageId": "m3"}, ["p1", "p2", "p9"]),
        ({"edit": True, "clientMessageId": "m2"}, ["p1", "p2", "p3", "p9"]),
        ({"edit": True, "clientMessageId": "unknown"}, ["p1", "p2", "p3", "p9"]),
        ({"edit": True}, ["p1", "p2", "p3", "p9"]),
        ({"clientMessageId": "m1"}, ["p1", "p2", "p3", "p9"]),
    ],
)
async def test_a_prompt_may_take_the_place_of_an_earlier_one(prompt: Json, left: list[str]) -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await conversation(ours)
        before = {entry["promptId"]: entry["id"] for entry in await messages(agent)}
        await ours.turn("what is 3+3?", "p9", **prompt)
        after = await messages(agent)

        assert prompts(after) == [(role, p) for p in left for role in ("user", "assistant")]
        gone = {
            f
            for frame in ours.received
            if frame["type"] == "messages.removed"
            for f in frame["messageIds"]
        }
        assert before["p1"] in gone or "p1" in left
        assert len(gone) == 2 * (4 - len(left))


async def test_a_prompt_may_be_named_by_the_id_that_the_history_gave_it() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.turn("what is 1+1?", "p1")
        asked = (await messages(agent))[0]
        await ours.turn("what is 1+2?", "p2", edit=True, clientMessageId=asked["id"])

        assert prompts(await messages(agent)) == [("user", "p2"), ("assistant", "p2")]


async def test_what_a_queued_prompt_replaces_stays_until_its_turn_begins() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.turn("say nothing", "p1", clientMessageId="m1")
        await ours.ask("hang", "p2", channelId="side")
        await ours.ask("say nothing", "p3", clientMessageId="m1", regenerate=True)
        await ours.ask("say nothing", "p4", clientMessageId="m4")
        await agent.until(lambda: agent.session("s1").queued == 2)
        waiting = await messages(agent)
        await ours.say(type="abort", promptId="p2")
        await ours.hear("complete", promptId="p4")
        done = await messages(agent)

        p1, p2 = [[("user", p), ("assistant", p)] for p in ("p1", "p2")]
        assert prompts(waiting) == [*p1, *p2, ("user", "p3"), ("user", "p4")]
        assert [p for role, p in prompts(done) if role == "assistant"] == ["p2", "p3", "p4"]


async def test_the_history_forgets_its_oldest_entries_but_none_that_waits() -> None:
    history = History(most=2)
    first, second, third = [Entry(f"e{n}", "user", {}, queued=True) for n in range(3)]
    history.add(first)
    history.add(second)
    history.add(third)
    assert [e.id for e in history] == ["e0", "e1", "e2"]

    history.begin(first, Entry("a0", "assistant", {}))
    assert [e.id for e in history] == ["e1", "e2"]
