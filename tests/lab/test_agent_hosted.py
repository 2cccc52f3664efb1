"""The scripted brain as a driver of the agent runtime's host."""

from contextlib import AsyncExitStack
from typing import Any

import pytest

from runtime.drivers.model_agent import results
from runtime.host.hosted import Frame, Socket, hosted, words
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.hosted.driver import ScriptedDriver

pytestmark = pytest.mark.sockets

PATIENT = HostSettings(lease_s=30, stop_s=0.3)
"""A lease that ends later than any test: a turn is handed over, or it stays."""


class Shared(MemoryJournal):
    """A journal that several replicas have, and that none of them closes."""

    async def aclose(self) -> None:
        return


def driver(quick_s: float = 2.0) -> ScriptedDriver:
    """The script, which says a word each 10 ms at most."""
    return ScriptedDriver(
        Habits(pace_s=0.0, slow_s=0.01, spellings=("text-delta",), noise=False, quick_s=quick_s)
    )


async def played(prompt: str, quick_s: float = 2.0) -> list[Frame]:
    """The frames of a turn that nobody answers."""
    async with hosted(driver(quick_s), settings=PATIENT) as host, host.socket() as gateway:
        return await gateway.turn(prompt)


def of(frames: list[Frame], kind: str) -> list[Frame]:
    return [each for each in frames if each["type"] == kind]


def last(frames: list[Frame]) -> Frame:
    return of(frames, "message.finalize")[-1]


async def _parts(gateway: Socket) -> list[Any]:
    """What a socket that joins now finds of the last answer."""
    found: list[Any] = gateway.seen[0]["session"]["messages"][-1]["parts"]
    return found


async def test_steps() -> None:
    frames = await played("take two steps")

    # What stands before the first step needs no mark.
    assert len(of(frames, "message.part.step")) >= 1
    assert words(frames) == ("This is what the first call said. And this is the second.\n")
    assert last(frames)["reason"] == "end_turn"


async def test_a_lost_attempt_takes_back_its_own_parts_and_no_others() -> None:
    async with hosted(driver(), settings=PATIENT) as host:
        async with host.socket() as gateway:
            frames = await gateway.turn("lose an attempt")
        async with host.socket() as later:
            parts = await _parts(later)

    (taken_back,) = of(frames, "message.part.retract")
    assert taken_back["since"] > 0
    assert [each["value"] for each in results(frames).values()] == [42, 42]
    texts = "".join(each["text"] for each in parts if each["type"] == "text")
    assert "I work it out twice" in texts
    assert "The line to the model" not in texts
    assert texts.endswith("That is all.\n")


@pytest.mark.parametrize(
    ("prompt", "finish"),
    [("stop short", "length"), ("stop short after too many steps", "max-steps")],
)
async def test_why_it_stopped(prompt: str, finish: str) -> None:
    assert last(await played(prompt))["finishReason"] == finish


async def test_a_file_and_two_sources() -> None:
    (file,) = of(await played("send me a picture"), "message.part.file")
    sources = of(await played("cite two sources"), "message.part.source")

    assert file["mime"] == "image/png"
    assert file["url"].startswith("data:image/png;base64,")
    assert [each["sourceId"] for each in sources] == ["source-1", "source-2"]


async def test_files_of_a_prompt_reach_the_script() -> None:
    notes = {"mime": "text/plain", "url": "data:text/plain,hello", "filename": "notes.txt"}
    async with hosted(driver(), settings=PATIENT) as host, host.socket() as gateway:
        frames = await gateway.turn("describe these files", attachments=[notes])

    assert "1 file: notes.txt text/plain 5 bytes" in words(frames)


async def test_two_questions_and_their_answers() -> None:
    async with hosted(driver(), settings=PATIENT) as host, host.socket() as gateway:
        await gateway.ask("ask two things")
        colour, name = await gateway.until("question"), await gateway.until("question")
        await gateway.send("answer", questionId=name["questionId"], answer="Ann")
        await gateway.send("answer", questionId=colour["questionId"], answer="red")
        frames = await gateway.rest()

    assert colour["options"] == ["red", "green", "blue"]
    assert "you said **red**" in words(frames)
    assert "you said **Ann**" in words(frames)


async def test_a_question_that_nobody_answers_in_time() -> None:
    frames = await played("ask quickly", quick_s=0.1)

    (asked,) = of(frames, "question")
    (expired,) = of(frames, "question.expired")
    assert expired["questionId"] == asked["questionId"]
    assert "Nobody answered 'Quick: which one?' in time." in words(frames)


@pytest.mark.parametrize(
    ("answer", "text"), [(True, "6*7 is **42**."), (False, "did not work out")]
)
async def test_an_approval(answer: bool, text: str) -> None:  # noqa: FBT001
    async with hosted(driver(), settings=PATIENT) as host, host.socket() as gateway:
        await gateway.ask("approve 6*7")
        asked = await gateway.until("question")
        await gateway.send("answer", questionId=asked["questionId"], answer=answer)
        frames = await gateway.rest()

    assert asked["toolName"] == "calculator"
    assert text in words(frames)
    assert len(results(frames)) == 1


async def test_a_turn_that_fails_and_the_next() -> None:
    async with hosted(driver(), settings=PATIENT) as host, host.socket() as gateway:
        frames = await gateway.turn("make the turn fail")
        again = await gateway.turn("stop short", "p2")

    assert last(frames)["reason"] == "error"
    assert last(frames)["error"] == "The agent was told to fail this turn."
    assert last(again)["reason"] == "end_turn"


class Handed:
    """A turn that one replica begins and another goes on with."""

    def __init__(self, stack: AsyncExitStack, first: AsyncExitStack) -> None:
        self._stack = stack
        self._first = first

    async def begin(self, prompt: str, *until: str) -> Socket:
        """Ask, and wait for frames of these types. Return a socket of the replica that stays."""
        journal = Shared()
        there = await self._stack.enter_async_context(hosted(driver(), journal, PATIENT))
        follower = await self._stack.enter_async_context(there.socket())
        here = await self._first.enter_async_context(hosted(driver(), journal, PATIENT))
        gateway = await self._first.enter_async_context(here.socket())
        await gateway.ask(prompt)
        for kind in until:
            await follower.until(kind)
        return follower

    async def hand_over(self) -> None:
        """End the replica that has the turn."""
        await self._first.aclose()


async def test_a_takeover_plays_it_from_the_beginning_and_takes_back_what_was_shown() -> None:
    async with AsyncExitStack() as stack, AsyncExitStack() as first:
        handed = Handed(stack, first)
        follower = await handed.begin("be slow", *["message.part.text-delta"] * 3)
        await handed.hand_over()
        await follower.rest()
        frames = follower.seen

    (taken_back,) = of(frames, "message.part.retract")
    assert taken_back["since"] == 0
    begun = {each["turnId"] for each in frames if "turnId" in each}
    assert len(begun) == 1
    before, after = (
        words(part)
        for part in (frames[: frames.index(taken_back)], frames[frames.index(taken_back) :])
    )
    assert before
    assert after.startswith(before)
    assert last(frames)["reason"] == "end_turn"


async def test_a_takeover_closes_the_question_of_the_lost_script_and_asks_its_own() -> None:
    async with AsyncExitStack() as stack, AsyncExitStack() as first:
        handed = Handed(stack, first)
        follower = await handed.begin("ask me: tea or coffee?", "question")
        lost = follower.seen[-1]
        await handed.hand_over()
        asked = await follower.until("question")
        await follower.send("answer", questionId=asked["questionId"], answer="tea")
        await follower.rest()
        frames = follower.seen

    assert asked["questionId"] != lost["questionId"]
    (expired,) = of(frames, "question.expired")
    assert expired["questionId"] == lost["questionId"]
    assert frames.index(expired) < frames.index(asked)
    assert "you said **tea**" in words(frames)
