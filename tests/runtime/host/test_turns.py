"""Turns over real sockets: what is asked, what is told, and what `init` says of it."""

import asyncio

from runtime.host.hosted import Scripted, echo, hosted, words
from turnwire_agent.host.driver import Ended, Turn
from turnwire_agent.session.deltas import TextAdded


async def test_a_prompt_gets_its_turn() -> None:
    async with hosted(Scripted(echo)) as host, host.socket() as socket:
        frames = await socket.turn("one two three")

        assert frames[0]["type"] == "message.create"
        assert frames[0]["promptId"] == "p1"
        assert words(frames) == "one two three "
        assert frames[-2]["type"] == "message.finalize"
        assert frames[-2]["reason"] == "end_turn"


async def test_prompts_wait_for_their_turns_in_order() -> None:
    async with hosted(Scripted(echo)) as host, host.socket() as socket:
        for number in range(5):
            await socket.ask(f"prompt {number}", f"p{number}")
        await socket.until("complete", promptId="p4")

        created = [each["promptId"] for each in socket.seen if each["type"] == "message.create"]
        assert created == [f"p{number}" for number in range(5)]


async def test_all_sockets_of_a_session_get_its_turns_and_no_other_does() -> None:
    async with (
        hosted(Scripted(echo)) as host,
        host.socket() as one,
        host.socket() as two,
        host.socket("s2") as other,
    ):
        frames = await one.turn("hello")
        assert await two.rest() == frames

        assert words(await other.turn("mine")) == "mine "
        assert "hello" not in str(other.seen)


async def test_who_joins_in_mid_turn_has_each_word_once() -> None:
    go_on = asyncio.Event()

    async def answer(turn: Turn) -> Ended:
        turn.add(TextAdded("first "))
        await go_on.wait()
        turn.add(TextAdded("second"))
        return Ended()

    async with hosted(Scripted(answer)) as host, host.socket() as one:
        await one.ask("hello")
        await one.until("message.part.text-delta")
        async with host.socket() as two:
            entry = two.seen[0]["session"]["messages"][-1]
            assert entry["parts"] == [{"type": "text", "text": "first "}]
            assert two.seen[0]["data"]["runningTurnId"] == entry["id"]
            go_on.set()
            assert words(await two.rest()) == "second"


async def test_what_the_driver_raises_is_told_to_nobody() -> None:
    async def answer(turn: Turn) -> Ended:
        turn.add(TextAdded("so far"))
        raise ValueError("canary-4711")

    async with hosted(Scripted(answer)) as host, host.socket() as socket:
        frames = await socket.turn("hello")
        assert frames[-2]["reason"] == "error"
        assert words(frames) == "so far"
        assert "canary" not in str(socket.seen)
        async with host.socket() as later:
            assert "canary" not in str(later.seen)
        again = await socket.turn("hello", "p2")
        assert again[-1]["type"] == "complete"


async def test_the_same_message_again_gets_the_turn_that_it_began() -> None:
    go_on = asyncio.Event()
    turns = 0

    async def answer(turn: Turn) -> Ended:
        nonlocal turns
        turns += 1
        turn.add(TextAdded("first "))
        await go_on.wait()
        turn.add(TextAdded("second"))
        return Ended()

    async with hosted(Scripted(answer)) as host, host.socket() as one:
        await one.ask("hello", "p1", clientMessageId="m1")
        await one.until("message.part.text-delta")
        async with host.socket() as two, host.socket() as three:
            await two.ask("hello", "p2", clientMessageId="m1")
            again = await two.until("message.create", promptId="p2")
            assert again["turnId"] == one.seen[1]["turnId"]
            go_on.set()
            await two.until("message.finalize")
            assert words(two.seen) == "first second"
            await three.until("message.finalize")
            assert "p2" not in str(three.seen)
        async with host.socket() as four:
            frames = await four.turn("hello", "p3", clientMessageId="m1")
            assert words(frames) == "first second"
        assert turns == 1
