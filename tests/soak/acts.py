"""What clients do in a soak. Each act is one user's visit; none minds how its turn ends."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

from gateway.tokens import bearer
from soak.client import User, WokenReader, question_id, turn_id

Act = Callable[[User, random.Random], Awaitable[None]]

PLAIN: Final = (
    "say nothing",
    "hello there",
    "what is 12*7?",
    "make the tool fail",
    "what time is it in Tokyo?",
    "search for keepalive",
    "think about rivers",
    "send me a picture",
    "cite two sources",
    "make the turn fail",
    "refuse this prompt",
    "hang up",
)
STORY: Final = "tell me a long story"


async def plain(user: User, dice: random.Random) -> None:
    async with user.prompt(dice.choice(PLAIN)) as stream:
        await stream.ends()


async def stop(user: User, dice: random.Random) -> None:
    async with user.prompt(dice.choice((STORY, "hang"))) as stream:
        await stream.sees(b"text-delta")
        if turn := turn_id(stream):
            await user.ask("stop", "POST", "stop", {"turnId": turn})
        await stream.ends()


async def leave(user: User, dice: random.Random) -> None:
    async with user.prompt(STORY, dice.choice(("abort", "continue", "grace"))) as stream:
        await _some(stream, dice)


async def come_back(user: User, dice: random.Random) -> None:
    async with user.prompt(STORY, "grace") as stream:
        await _some(stream, dice)
    async with user.resume() as stream:
        await stream.ends()


async def follow(user: User, _dice: random.Random) -> None:
    async with user.prompt(STORY) as stream:
        await stream.sees(b"text-delta")
        async with user.resume() as again:
            await again.ends()
        await stream.ends()


async def find_nothing(user: User, _dice: random.Random) -> None:
    async with user.resume() as stream:
        await stream.ends()


async def answer(user: User, dice: random.Random) -> None:
    asked = ("ask me: tea or coffee?", "approve 12*7", "ask quickly")
    async with user.prompt(dice.choice(asked)) as stream:
        await stream.sees(b"data-question")
        if (question := question_id(stream)) and dice.random() < 0.8:
            given = {"questionId": question, "answer": dice.choice(("tea", "approve"))}
            await user.ask("answer", "POST", "answer", given)
            if dice.random() < 0.3:
                await user.ask("answer", "POST", "answer", given)  # once more: closed by now
        else:
            return  # and nobody answers
        await stream.ends()


async def read_history(user: User, _dice: random.Random) -> None:
    async with user.prompt("hello there") as stream:
        await stream.ends()
    await user.ask("messages", "GET", "messages")


async def read_slowly(user: User, dice: random.Random) -> None:
    async with user.prompt("flood 2000", narrow=True) as stream:
        for _ in range(5):
            stream.pause()
            await asyncio.sleep(0.3 * dice.random())
            stream.go_on()
            await asyncio.sleep(0.05)
        await stream.ends()


async def read_no_more(user: User, _dice: random.Random) -> None:
    async with user.prompt("flood 300000", narrow=True) as stream:
        await stream.sees(b"text-delta")
        stream.pause()
        await asyncio.sleep(5)  # the patience of the gateway, and of its kernel, is half of that
        stream.go_on()
        await stream.ends()


async def wait_in_vain(user: User, _dice: random.Random) -> None:
    async with user.prompt("hang") as stream:
        await stream.ends()


async def take_too_long(user: User, _dice: random.Random) -> None:
    async with user.prompt("be slow") as stream:
        await stream.ends()


async def expire(user: User, _dice: random.Random) -> None:
    async with user.prompt("hang", good_for_s=2) as stream:
        await stream.ends()


async def give_up_in_the_queue(user: User, _dice: random.Random) -> None:
    async with user.prompt("be slow") as stream:
        await stream.sees(b"text-delta")
        async with user.companion().prompt("hello there") as waiting:
            await waiting.sees(b'"queued"')
        await stream.ends()


async def be_cut_off(user: User, dice: random.Random) -> None:
    async with user.prompt(dice.choice((STORY, *PLAIN)), breaking=True) as stream:
        await stream.ends()


async def ask_badly(user: User, dice: random.Random) -> None:
    viewer = bearer(user.name, sessions={"*": "viewer"})["authorization"]
    match dice.randrange(6):
        case 0:
            await user.ask_badly(b"{}", authorization="")
        case 1:
            await user.ask_badly(b"no json")
        case 2:
            await user.ask_badly(b"{}", content_type="text/html")
        case 3:
            await user.ask_badly(b"{}", authorization=viewer)
        case 4:
            await user.ask_badly(b"{}", session="no%0Asession")
        case _:
            await user.ask_badly(b"{}", content_length="99999999999")
    await user.ask("answer", "POST", "answer", {"questionId": "nobody-asked", "answer": 1})
    await user.ask("stop", "POST", "stop")


ACTS: Final[dict[Act, int]] = {
    plain: 16,
    stop: 5,
    leave: 8,
    come_back: 4,
    follow: 4,
    find_nothing: 2,
    answer: 6,
    read_history: 3,
    read_slowly: 3,
    wait_in_vain: 1,
    be_cut_off: 5,
    ask_badly: 3,
    read_no_more: 1,
    take_too_long: 1,
    expire: 1,
    give_up_in_the_queue: 1,
}
"""Each, and how often it comes in a deck."""


def deck(dice: random.Random) -> list[Act]:
    cards = [act for act, times in ACTS.items() for _ in range(times)]
    dice.shuffle(cards)
    return cards


async def _some(stream: WokenReader, dice: random.Random) -> None:
    """Read for a while, before the first byte or far into the story."""
    if dice.random() < 0.8:
        await stream.sees(b"text-delta")
    await asyncio.sleep(dice.random())
