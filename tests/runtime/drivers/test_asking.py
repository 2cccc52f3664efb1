"""A tool asks a person in the middle of its run."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from runtime.drivers.kept_journal import KeptJournal
from runtime.drivers.model_agent import calls, playing, results, says
from runtime.host.hosted import Frame, Socket
from turnwire_agent.journal.port import Appended, Journal
from turnwire_agent.loop import words
from turnwire_agent.loop.limits import Limits
from turnwire_agent.tools.contract import Context, Effect, NoAnswer, Tool
from turnwire_agent.tools.functions import tool

PAINT = calls(("c1", "paint", '{"what": "door"}'))
OPTIONS = ("red", "blue")
UNANSWERED = "Nobody answered the question in time."


class Slow(KeptJournal):
    """One whose commits take a while."""

    async def append(self, *written: Any, **more: Any) -> Appended:
        await asyncio.sleep(0.15)
        return await super().append(*written, **more)


def painter(
    effect: Effect = Effect.SAFE, *, timeout_s: float = 60.0, second: str = "How many coats?"
) -> Tool:
    """A tool with two questions."""

    @tool(effect=effect, timeout_s=timeout_s)
    async def paint(what: str, context: Context) -> Any:
        """Paint."""
        colour = await context.ask(f"Which colour for the {what}?", options=OPTIONS)
        return [colour, await context.ask(second)]

    return paint


async def answered(socket: Socket, text: str, answer: object) -> Frame:
    """Wait for a question, and answer it."""
    question = await socket.until("question", text=text)
    await socket.send("answer", questionId=question["questionId"], answer=answer)
    return question


async def test_a_tool_asks_and_has_the_answers() -> None:
    async with playing([PAINT, says("Done.")], [painter()]) as play, play.host.socket() as socket:
        await socket.ask("Go")
        question = await answered(socket, "Which colour for the door?", "red")
        assert question["options"] == ["red", "blue"]
        assert "kind" not in question, "it is no approval"
        await answered(socket, "How many coats?", {"coats": 2})
        frames = await socket.rest()
        assert results(frames) == {"c1": ["red", {"coats": 2}]}
        assert [each["type"] for each in frames if "question" in each["type"]] == [
            "question.resolved"
        ]


async def test_a_plain_function_waits_for_its_answer() -> None:
    @tool
    def paint(what: str, context: Context) -> str:
        """Paint."""
        return f"{what}: {context.ask('Which colour?')}"

    async with playing([PAINT, says("Done.")], [paint]) as play, play.host.socket() as socket:
        await socket.ask("Go")
        await answered(socket, "Which colour?", "red")
        assert results(await socket.rest()) == {"c1": "door: red"}


async def test_a_run_after_a_crash_has_the_answers_that_there_are(
    opened: Callable[[], Journal],
) -> None:
    async with (
        playing([PAINT], [painter()], journal=opened()) as play,
        play.host.socket() as socket,
    ):
        await socket.ask("Go")
        await answered(socket, "Which colour for the door?", "red")
        open_one = await socket.until("question", text="How many coats?")
    async with (
        playing([says("Done.")], [painter()], journal=opened()) as play,
        play.host.socket() as socket,
    ):
        await asyncio.sleep(0.2)  # the tool runs again, and could ask again
        await socket.send("answer", questionId=open_one["questionId"], answer=2)
        assert results(await socket.rest()) == {"c1": ["red", 2]}
        assert [each for each in socket.seen if each["type"] == "question"] == []


async def test_another_question_is_not_given_the_answer_of_the_first() -> None:
    kept = KeptJournal()
    async with playing([PAINT], [painter()], journal=kept) as play, play.host.socket() as socket:
        await socket.ask("Go")
        await answered(socket, "Which colour for the door?", "red")
        old = await socket.until("question", text="How many coats?")
    async with (
        playing([says("Done.")], [painter(second="Today?")], journal=kept) as play,
        play.host.socket() as socket,
    ):
        new = next(
            (each for each in parts(socket) if each.get("text") == "Today?"), None
        ) or await socket.until("question", text="Today?")
        await socket.send("answer", questionId=new["questionId"], answer="yes")
        frames = await socket.rest()
        assert results(frames) == {"c1": ["red", "yes"]}
        assert closed(frames) == {new["questionId"]: "yes", old["questionId"]: None}


async def test_the_question_of_a_call_that_is_not_run_again_is_closed() -> None:
    kept = KeptJournal()
    once = painter(Effect.ONCE)
    async with playing([PAINT], [once], journal=kept) as play, play.host.socket() as socket:
        await socket.ask("Go")
        await socket.until("question")
    async with (
        playing([says("Sorry.")], [once], journal=kept) as play,
        play.host.socket() as socket,
    ):
        await socket.turn("What now?", "p2")
    async with playing([says("-")], journal=kept) as play, play.host.socket() as later:
        call, question = (
            each for each in parts(later) if each["type"] in {"tool-call", "question"}
        )
        assert call["error"] == words.UNKNOWN
        assert question["expired"]


async def test_a_stop_ends_the_wait_and_closes_the_question() -> None:
    ended: list[BaseException] = []

    @tool
    async def paint(what: str, context: Context) -> str:
        """Paint."""
        try:
            return str(await context.ask(what))
        except BaseException as error:
            ended.append(error)
            raise

    @tool
    def print(what: str, context: Context) -> str:  # noqa: A001 (a tool's name)
        """Print."""
        try:
            return str(context.ask(what))
        except BaseException as error:
            ended.append(error)
            raise

    both = calls(("c1", "paint", '{"what": "a"}'), ("c2", "print", '{"what": "b"}'))
    async with (
        playing([both, says("Next.")], [paint, print]) as play,
        play.host.socket() as socket,
    ):
        await socket.ask("Go")
        asked = {(await socket.until("question"))["questionId"] for _ in range(2)}
        await socket.send("abort", promptId="p1")
        frames = await socket.rest()
        assert frames[-2]["reason"] == "canceled"
        assert closed(frames) == dict.fromkeys(asked)
        await socket.turn("Again", "p2")
        assert len(ended) == 2


async def test_a_deadline_ends_the_wait_and_closes_the_question() -> None:
    quick = painter(timeout_s=0.3)
    async with playing([PAINT, says("Sorry.")], [quick]) as play, play.host.socket() as socket:
        frames = await socket.turn("Go")
        [question] = [each for each in frames if each["type"] == "question"]
        assert closed(frames) == {question["questionId"]: None}
        # Both end at the same moment.
        assert results(frames)["c1"] in {"The tool took too long.", UNANSWERED}
        assert frames[-2]["reason"] == "end_turn"


async def test_a_question_expires_before_the_tool_does() -> None:
    caught: list[str] = []

    @tool
    async def paint(what: str, context: Context) -> str:
        """Paint."""
        try:
            return str(await context.ask(what))
        except NoAnswer as error:
            caught.append(str(error))
            return "white"

    limits = Limits(question_s=1)
    async with (
        playing([PAINT, says("Done.")], [paint], limits=limits) as play,
        play.host.socket() as socket,
    ):
        frames = await socket.turn("Go")
        assert results(frames) == {"c1": "white"}
        assert caught == [UNANSWERED]


@pytest.mark.parametrize("journal", [KeptJournal(), Slow()])
async def test_a_question_that_nobody_waits_for_is_closed_with_its_call(journal: Journal) -> None:
    """Also if it is still on its way to the journal."""
    kept: list[Context] = []

    @tool
    async def paint(what: str, context: Context) -> str:
        """Ask, and do not wait."""
        kept.append(context)
        waiting = asyncio.ensure_future(context.ask(what))
        await asyncio.wait([waiting], timeout=0.1)
        return "white"

    scripts = [PAINT, says("Done.")]
    async with (
        playing(scripts, [paint], journal=journal) as play,
        play.host.socket() as socket,
    ):
        frames = await socket.turn("Go")
        assert results(frames) == {"c1": "white"}
        kinds = [each["type"] for each in frames]
        assert kinds.count("question.expired") == 1
        outcome = next(at for at, each in enumerate(frames) if each.get("status") == "completed")
        assert kinds.index("question") < kinds.index("question.expired") < outcome
        with pytest.raises(NoAnswer, match="The call is over"):
            await kept[0].ask("And now?")


def parts(socket: Socket) -> list[Frame]:
    """The parts of all turns, when the socket was opened."""
    entries = socket.seen[0]["session"]["messages"]
    return [part for entry in entries if entry["role"] == "assistant" for part in entry["parts"]]


def closed(frames: list[Frame]) -> dict[str, object]:
    """The questions that were closed, and their answers."""
    return {
        each["questionId"]: each.get("answer")
        for each in frames
        if each["type"] in {"question.resolved", "question.expired"}
    }
