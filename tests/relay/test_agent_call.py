"""A turn that is stopped: at any moment, twice, under another's name, and what is left of it."""

import asyncio
from random import Random

import pytest

from gateway.clients import is_whole, outline, said
from gateway.reading import App, question_id, turn_id
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.testing.client_model import Client
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.journal import Run
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

STOPS = 100
AT_ONCE = 10
PROMPTS = (
    "hello there",
    "what is 12*7?",
    "divide 1 by 0",
    "think about rivers and mills",
    "search for keepalive",
    "send me a file",
    "ask me: tea or coffee?",
    "approve 12*7",
    "tell me a long story",
    "say nothing",
)
MOST_RECORDS = 60


def run(agent: ReferenceAgent, session: str, number: int = 0) -> Run | None:
    found = list(agent.journal.of(session))
    return found[number] if len(found) > number else None


async def stop_somewhere(agent: ReferenceAgent, gateway: Gateway, seed: int) -> str:
    """Stop one turn at a random moment; what it ended with, in the agent's own word."""
    dice = Random(seed)  # noqa: S311
    session = f"s{seed}"
    app = App(gateway, session=session, user=f"u{seed}")
    records, named = dice.randrange(1, MOST_RECORDS), dice.random() < 0.5
    async with app.prompt(PROMPTS[seed % len(PROMPTS)]) as chat:

        def is_due() -> bool:
            told = outline(chat.body)
            asks = "data-question" in told  # nothing more will come
            return len(told) >= records or asks or chat.ended

        await until(lambda: is_due() and "start" in outline(chat.body))
        response = await app.stop(turn_id(chat.body) if named else None)
        body = await chat.end()
    client = Client()
    client.read(body)
    client.close()
    await until(lambda: (its := run(agent, session)) and its.reason)
    its = run(agent, session)
    assert its is not None
    assert response.status_code == 200
    receipt = response.json()
    assert receipt["stopped"] == (its.reason == "canceled") == its.aborted
    assert receipt["reason"] in {its.reason, "idle"}
    assert (client.verdict == {"type": "abort"}) == (its.reason == "canceled")
    async with app.prompt("what is 1+2?") as chat:
        assert "is **3**" in said(await chat.end())
    return str(its.reason)


async def test_a_turn_is_stopped_at_any_moment() -> None:
    async with ReferenceAgent(Habits(pace_s=0.003)) as agent, Gateway(agent.url) as gateway:
        places = asyncio.Semaphore(AT_ONCE)

        async def work(seed: int) -> str:
            async with places:
                return await stop_somewhere(agent, gateway, seed)

        ended = await asyncio.gather(*map(work, range(STOPS)))

    assert ended.count("canceled") > STOPS / 2, "most were stopped, or this shows nothing"


async def test_a_stop_is_over_when_it_is_answered_and_may_be_said_twice() -> None:
    async with ReferenceAgent() as agent, Gateway(agent.url) as gateway:
        app = App(gateway)
        async with app.prompt("hang") as chat:
            await chat.sees("stops")
            turn = turn_id(chat.body)
            first = (await app.stop(turn)).json()
            its = run(agent, "s1")
            assert its is not None
            assert (its.reason, its.aborted, its.aborted_by) == ("canceled", True, "u1")
            again = (await app.stop(turn)).json()
            nameless = (await app.stop()).json()
            body = await chat.end()

    assert outline(body)[-4:] == ["text-end", "finish-step", "abort", "finish"]
    assert is_whole(body)
    assert first.pop("waitedMs") >= 0
    assert first == {"stopped": True, "turnId": turn, "reason": "canceled"}
    assert again == first | {"waitedMs": again["waitedMs"]}
    assert (nameless["stopped"], nameless["turnId"], nameless["reason"]) == (False, None, "idle")


async def test_two_stops_at_once_both_say_what_became_of_it() -> None:
    async with ReferenceAgent() as agent, Gateway(agent.url) as gateway:
        app = App(gateway)
        async with app.prompt("hang") as chat:
            await chat.sees("stops")
            receipts = [r.json() for r in await asyncio.gather(app.stop(), app.stop())]
            await chat.end()

    # Whoever comes when it is over already finds nothing to stop.
    assert [r["reason"] for r in receipts if r["stopped"]] in (["canceled"], ["canceled"] * 2)


async def test_the_name_of_another_turn_stops_nothing() -> None:
    async with ReferenceAgent() as agent, Gateway(agent.url) as gateway:
        app = App(gateway)
        async with app.prompt("what is 1+2?") as chat:
            before = turn_id(await chat.end())
        async with app.prompt("ask me: tea or coffee?") as chat:
            asked = await question_id(chat)
            for other in (before, "turn-of-nobody"):
                response = await app.stop(other)
                assert (response.status_code, response.json()["code"]) == (409, "another_turn")
            assert (await app.answer(asked, "tea")).status_code == 202
            assert "you said **tea**" in said(await chat.end())
        over = (await app.stop(before)).json()

    assert (over["stopped"], over["turnId"], over["reason"]) == (False, before, "end_turn")


async def test_whoever_resumed_sees_the_stop_too() -> None:
    async with ReferenceAgent() as agent, Gateway(agent.url) as gateway:
        app = App(gateway)
        async with app.prompt("ask me: tea or coffee?", "continue") as chat:
            await question_id(chat)
        async with app.resume() as chat:
            await question_id(chat)
            assert (await App(gateway, user="u2").stop()).json()["stopped"] is True
            body = await chat.end()
        (_, answered) = await app.messages()

    client = Client()
    client.read(body)
    client.close()
    assert client.verdict == {"type": "abort"}
    assert list(client.questions.values()) == ["expired"]
    assert answered["parts"][-1]["data"]["state"] == "expired"


async def test_a_stop_leaves_what_waits_in_the_queue_alone() -> None:
    async with ReferenceAgent() as agent, Gateway(agent.url) as gateway:
        app = App(gateway)
        async with app.prompt("hang") as first:
            await first.sees("stops")
            async with app.prompt("what is 1+2?") as second:
                await second.sees("queued")
                assert (await app.stop()).json()["turnId"] == turn_id(first.body)
                assert "is **3**" in said(await second.end())
            assert outline(await first.end())[-2:] == ["abort", "finish"]
