"""The loop over a model, over real sockets on both sides."""

import asyncio
import json
import time

import pytest

from gateway.waiting import PATIENCE_S
from runtime.drivers.model_agent import calls, playing, results, says
from runtime.host.hosted import words
from runtime.llm.call.called import chunk
from runtime.llm.scripted_server import STREAM_HEAD, response, sends, sends_then_silent
from runtime.llm.streams import sse
from turnwire_agent.tools.contract import Context, Effect, ToolFailed
from turnwire_agent.tools.functions import tool

CANARY = "canary-4711"


@tool(effect=Effect.SAFE)
async def look(what: str) -> dict[str, str]:
    """Look something up."""
    return {"found": what}


async def test_a_tool_is_called_and_its_result_goes_back() -> None:
    scripts = [
        calls(("c1", "look", '{"what": "cats"}'), text="Let me look. "),
        says("Three ", "cats."),
    ]
    async with playing(scripts, [look]) as play, play.host.socket() as socket:
        frames = await socket.turn("How many cats?")
        assert words(frames) == "Let me look. Three cats."
        assert results(frames) == {"c1": {"found": "cats"}}
        sent = json.loads(play.provider.asked[1].body)["messages"]
        assert [each["role"] for each in sent] == ["user", "assistant", "tool"]
        assert sent[-1]["tool_call_id"] == "c1"
        assert json.loads(sent[-1]["content"]) == {"found": "cats"}


async def test_tools_run_side_by_side_and_are_told_as_they_end() -> None:
    arrived = asyncio.Event()

    @tool
    async def slow(n: int) -> int:
        """Wait for the quick one."""
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.to_thread(_wait, arrived)
        return n

    @tool
    async def quick(n: int) -> int:
        """Be quick."""
        arrived.set()
        return n

    scripts = [
        calls(("c1", "slow", '{"n": 1}'), ("c2", "quick", '{"n": 2}')),
        says("Done."),
    ]
    async with playing(scripts, [slow, quick]) as play, play.host.socket() as socket:
        frames = await socket.turn("Go")
        assert list(results(frames)) == ["c2", "c1"]
        sent = json.loads(play.provider.asked[1].body)["messages"]
        assert [each["tool_call_id"] for each in sent if each["role"] == "tool"] == ["c1", "c2"]


def _wait(event: asyncio.Event) -> None:
    while not event.is_set():
        time.sleep(0.01)


async def test_a_tool_that_raises_gives_the_model_generic_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @tool
    def broken(what: str) -> str:
        """Break."""
        raise RuntimeError(f"{CANARY} {what}")

    @tool
    def refuses(what: str) -> str:
        """Refuse."""
        raise ToolFailed(f"No paper for {what}.")

    scripts = [
        calls(("c1", "broken", '{"what": "x"}'), ("c2", "refuses", '{"what": "x"}')),
        says("Sorry."),
    ]
    async with playing(scripts, [broken, refuses]) as play, play.host.socket() as socket:
        frames = await socket.turn("Go")
        assert results(frames) == {"c1": "The tool failed.", "c2": "No paper for x."}
        async with play.host.socket() as later:
            assert CANARY not in str(later.seen)
        assert CANARY not in str(socket.seen)
        assert CANARY.encode() not in play.provider.asked[1].body
    assert CANARY not in caplog.text
    assert "RuntimeError" in caplog.text


async def test_a_stop_in_the_text_ends_the_call_of_the_model() -> None:
    scripts = [sends_then_silent(STREAM_HEAD + sse(chunk(content="So far"))), says("Next.")]
    async with playing(scripts) as play, play.host.socket() as socket:
        await socket.ask("Go")
        turn = await socket.until("message.part.text-delta")
        await socket.send("abort", turnId=turn["turnId"])
        end = await socket.until("message.finalize")
        assert end["reason"] == "canceled"
        async with asyncio.timeout(10):
            await play.provider.hung_up.wait()
        assert words(await socket.turn("Again", "p2")) == "Next."
        sent = json.loads(play.provider.asked[1].body)["messages"]
        assert [each["role"] for each in sent] == ["user", "user"]


async def test_a_stop_in_a_tool_leaves_a_conversation_that_goes_on() -> None:
    began = asyncio.Event()
    ended: list[str] = []

    @tool
    async def endless(what: str) -> str:
        """Run for ever."""
        began.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(what)
            raise
        return what

    scripts = [calls(("c1", "endless", '{"what": "x"}')), says("Next.")]
    async with playing(scripts, [endless]) as play, play.host.socket() as socket:
        await socket.ask("Go")
        await socket.until("message.part.tool-update", status="running")
        await asyncio.to_thread(_wait, began)
        await socket.send("abort", promptId="p1")
        assert (await socket.until("message.finalize"))["reason"] == "canceled"
        assert words(await socket.turn("Again", "p2")) == "Next."
        assert ended == ["x"]
        sent = json.loads(play.provider.asked[1].body)["messages"]
        assert [each["role"] for each in sent] == ["user", "assistant", "tool", "user"]


async def test_an_answer_that_breaks_off_is_taken_back_and_asked_for_again() -> None:
    scripts = [sends(STREAM_HEAD + sse(chunk(content="Wrong"))), says("Right.")]
    async with playing(scripts) as play, play.host.socket() as socket:
        frames = await socket.turn("Go")
        kinds = [each["type"] for each in frames]
        assert "message.part.retract" in kinds
        assert frames[-2]["reason"] == "end_turn"
        async with play.host.socket() as later:
            entry = later.seen[0]["session"]["messages"][-1]
            assert [each for each in entry["parts"] if each["type"] == "text"] == [
                {"type": "text", "text": "Right."}
            ]


async def test_an_answer_that_breaks_off_again_and_again_ends_the_turn() -> None:
    broken = sends(STREAM_HEAD + sse(chunk(content="Wrong")))
    async with playing([broken]) as play, play.host.socket() as socket:
        frames = await socket.turn("Go")
        assert frames[-2]["reason"] == "error"
        assert len(play.provider.asked) == 3


async def test_a_provider_that_refuses_is_not_quoted() -> None:
    error = {"error": {"message": f"{CANARY} is no model", "type": "invalid_request_error"}}
    async with playing([sends(response(400, error))]) as play, play.host.socket() as socket:
        frames = await socket.turn("Go")
        assert frames[-2]["reason"] == "error"
        assert CANARY not in str(frames)
        assert len(play.provider.asked) == 1


async def test_a_tool_that_takes_too_long_is_cancelled() -> None:
    @tool(timeout_s=0.2)
    async def slow(what: str) -> str:
        """Be slow."""
        await asyncio.sleep(30)
        return what

    scripts = [calls(("c1", "slow", '{"what": "x"}')), says("Sorry.")]
    async with playing(scripts, [slow]) as play, play.host.socket() as socket:
        frames = await socket.turn("Go")
        assert results(frames) == {"c1": "The tool took too long."}
        assert frames[-2]["reason"] == "end_turn"
        assert play.runner.abandoned == 0


async def test_a_tool_that_never_yields_stops_no_other_session() -> None:
    began, stop = asyncio.Event(), asyncio.Event()

    @tool
    async def busy(what: str) -> str:
        """Never yield."""
        began.set()
        while not stop.is_set():
            pass
        return what

    scripts = [calls(("c1", "busy", '{"what": "x"}')), says("Hello."), says("Done.")]
    async with playing(scripts, [busy]) as play, play.host.socket() as socket:
        await socket.ask("Go")
        await asyncio.to_thread(_wait, began)
        async with play.host.socket("s2") as other:
            assert words(await other.turn("Hi", "p2")) == "Hello."
        stop.set()
        assert (await socket.rest())[-2]["reason"] == "end_turn"


async def test_the_key_of_a_call_is_its_own() -> None:
    keys: list[str] = []

    @tool(effect=Effect.KEYED)
    def pay(amount: int, context: Context) -> str:
        """Pay."""
        keys.append(context.key)
        return f"paid {amount}"

    scripts = [
        calls(("c1", "pay", '{"amount": 1}'), ("c2", "pay", '{"amount": 1}')),
        calls(("c1", "pay", '{"amount": 1}')),
        says("Done."),
    ]
    async with playing(scripts, [pay]) as play, play.host.socket() as socket:
        frames = await socket.turn("Go")
        assert len(results(frames)) == 3
        assert len(set(keys)) == 3
