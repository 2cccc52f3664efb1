"""The reference agent over real WebSockets: turns, their order, and how they are stopped."""

import json
from typing import Any

import pytest

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.line import GatewayLine, kinds, line, text
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets


async def test_init_is_the_first_frame_and_an_empty_session_is_idle() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        first = json.loads(await ours.socket.recv())

        assert first == {
            "type": "init",
            "session": {"id": "s1", "status": "running", "messages": []},
            "data": {"runnerBusy": False, "promptsQueued": 0},
        }


async def test_a_turn_is_told_from_create_to_complete() -> None:
    async with ReferenceAgent() as agent, line(agent.url, x_turnwire_user="ann") as ours:
        frames = await ours.turn("hello", "p7", channelId="side")

        turn_id = frames[0]["turnId"]
        channel = {"channelType": "web", "channelId": "side"}
        assert frames[0] == {
            "type": "message.create",
            "turnId": turn_id,
            "promptId": "p7",
            "userId": "ann",
            **channel,
        }
        assert frames[1] == {
            "type": "agentStatus",
            "status": "thinking",
            "turnId": turn_id,
            **channel,
        }
        final = frames[-2]
        assert final["type"] == "message.finalize"
        assert final["reason"] == "end_turn"
        assert final["finalText"] == text(frames)
        assert "> hello" in final["finalText"]
        assert final["usage"]["totalTokens"] > final["usage"]["promptTokens"] == 1
        assert frames[-1] == {"type": "complete", "turnId": turn_id, "promptId": "p7"}


async def test_each_delta_is_told_twice() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("hello")

        spoken = [f for f in frames if f["type"] in {"chunk", "message.part.text-delta"}]
        for chunk, delta in zip(spoken[::2], spoken[1::2], strict=True):
            assert chunk["type"] == "chunk"
            assert chunk["content"] == delta["delta"]
            assert chunk["messageId"] == delta["turnId"]


@pytest.mark.parametrize(
    ("spelling", "kind"), [("chunk", "chunk"), ("text-delta", "message.part.text-delta")]
)
async def test_a_switch_leaves_one_spelling(spelling: Any, kind: str) -> None:
    async with ReferenceAgent(Habits(spellings=(spelling,))) as agent, line(agent.url) as ours:
        frames = await ours.turn("hello")

        told = {f["type"] for f in frames} & {"chunk", "message.part.text-delta"}
        assert told == {kind}


async def test_a_switch_leaves_the_prompt_id_out_everywhere() -> None:
    async with ReferenceAgent(Habits(prompt_ids=False)) as agent:
        async with line(agent.url) as ours:
            await ours.turn("hello")
        async with line(agent.url) as later:
            ours.received.append(await later.hear("init"))

        assert "promptId" not in json.dumps(ours.received)


async def test_switches_leave_init_and_noise_out() -> None:
    async with ReferenceAgent(Habits(init=False, noise=False)) as agent, line(agent.url) as ours:
        await ours.turn("2+2")

        assert ours.received[0]["type"] == "message.create"
        noisy = {"init", "message", "message.updated", "audit_log", "user.joined", "status"}
        assert not noisy & {f["type"] for f in ours.received}


async def test_two_sockets_hear_the_same_turns_in_the_order_of_their_prompts() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ann, line(agent.url) as bob:
        await ann.ask("hang", "a1")
        running = await ann.hear("message.create", promptId="a1")
        await bob.ask("say 2 deltas", "b1")
        await agent.until(lambda: agent.session("s1").queued == 1)
        await ann.ask("say 3 deltas", "a2")
        await agent.until(lambda: agent.session("s1").queued == 2)
        await bob.say(type="abort", turnId=running["turnId"], promptId="a1")
        for one in (ann, bob):
            await one.hear("complete", promptId="a2")

        def turns(one: GatewayLine) -> list[Json]:
            return [f for f in one.received if "turnId" in f or f["type"] == "chunk"]

        assert turns(ann) == turns(bob)
        created = [f["promptId"] for f in turns(ann) if f["type"] == "message.create"]
        assert created == ["a1", "b1", "a2"]
        edges = {"message.create", "complete"}
        assert [f["type"] for f in turns(ann) if f["type"] in edges] == [
            "message.create",
            "complete",
        ] * 3


async def test_sessions_do_not_hear_each_other() -> None:
    async with (
        ReferenceAgent() as agent,
        line(agent.url, "s1") as one,
        line(agent.url, "s2") as two,
    ):
        await one.turn("hello")
        await two.say(type="ping")
        await two.hear("pong")

        assert kinds(two.received) == ["init", "user.joined", "pong"]


async def test_an_abort_that_names_the_turn_stops_it() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("hang")
        created = await ours.hear("message.create")
        await ours.hear("chunk")
        await ours.say(type="abort", turnId=created["turnId"])
        final = await ours.hear("message.finalize")
        await ours.hear("complete")

        assert final["reason"] == "canceled"
        assert final["turnId"] == created["turnId"]
        assert (await ours.turn("say 1 deltas", "p2"))[-2]["finalText"] == "0 "


async def test_an_abort_that_names_the_prompt_stops_its_turn_mid_flood() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("flood 100000", "p1")
        await ours.hear("chunk")
        await ours.say(type="abort", promptId="p1")
        final = await ours.hear("message.finalize")

        assert final["reason"] == "canceled"
        assert final["finalText"] == text(ours.received)


async def test_an_abort_that_names_neither_is_ignored() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("hang")
        created = await ours.hear("message.create")
        await ours.say(type="abort")
        await ours.say(type="abort", turnId="turn-of-nobody", promptId="prompt-of-nobody")
        await ours.say(type="ping")
        await ours.hear("pong")

        running = agent.session("s1").running
        assert running is not None
        assert running.id == created["turnId"]
        assert "message.finalize" not in kinds(ours.received)


async def test_a_queued_prompt_that_is_aborted_never_runs() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("hang", "p1")
        await ours.ask("say 2 deltas", "p2")
        await ours.ask("say 3 deltas", "p3")
        await ours.hear("message.create", promptId="p1")
        await ours.say(type="abort", promptId="p2")
        told = await ours.hear("error")
        await ours.say(type="abort", promptId="p1")
        await ours.hear("complete", promptId="p3")

        assert told["promptId"] == "p2"
        created = [f["promptId"] for f in ours.received if f["type"] == "message.create"]
        assert created == ["p1", "p3"]


async def test_a_flood_may_be_followed_by_silence() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("flood 3 and hang")
        created = await ours.hear("message.create")
        await ours.hear("chunk", content="2 ")
        await ours.say(type="abort", turnId=created["turnId"])

        assert (await ours.hear("message.finalize"))["reason"] == "canceled"
