"""Stop means stopped: a receipt at once, whatever the driver does."""

import asyncio

import pytest
from msgspec import Raw

from runtime.host.hosted import Hosted, Scripted, hosted, words
from turnwire_agent.host.driver import Ended, Turn
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.llm.events import Usage
from turnwire_agent.llm.transcript import Assistant, Text
from turnwire_agent.loop.calls import effects
from turnwire_agent.session.deltas import TextAdded
from turnwire_agent.session.events import CallBegun, StepEnded


async def for_ever(turn: Turn) -> Ended:
    turn.add(TextAdded("so far"))
    await asyncio.Event().wait()
    return Ended()


async def deaf(turn: Turn) -> Ended:
    """Say something, and do not hear of any cancellation."""
    turn.add(TextAdded("so far"))
    for _ in range(2):
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            turn.add(TextAdded("I go on"))
    return Ended()


@pytest.mark.parametrize("answer", [for_ever, deaf])
async def test_an_abort_ends_the_turn_and_the_next_prompt_gets_its_own(answer: object) -> None:
    async def first_only(turn: Turn) -> Ended:
        if turn.prompt.content == "first":
            return await answer(turn)  # type: ignore[operator, no-any-return]
        return Ended()

    async with hosted(Scripted(first_only)) as host, host.socket() as socket:
        await socket.ask("first")
        turn = await socket.until("message.part.text-delta")
        async with host.socket() as other:
            await other.send("abort", turnId=turn["turnId"], promptId="")
            end = await other.until("message.finalize")
        assert end["reason"] == "canceled"
        frames = await socket.rest()
        assert frames[-2]["reason"] == "canceled"

        frames = await socket.turn("second", "p2")
        assert frames[-2]["reason"] == "end_turn"
        assert "I go on" not in words(socket.seen)


async def test_an_abort_before_its_turn_takes_the_prompt_back() -> None:
    async with hosted(Scripted(for_ever)) as host, host.socket() as socket:
        await socket.ask("first", "p1")
        await socket.ask("second", "p2")
        turn = await socket.until("message.part.text-delta")
        await _queued(host, 1)
        await socket.send("abort", promptId="p2")
        assert (await socket.until("error"))["promptId"] == "p2"
        await socket.send("abort", promptId="p1")
        await socket.until("complete", turnId=turn["turnId"])
        async with host.socket() as later:
            entries = later.seen[0]["session"]["messages"]
            assert [each["role"] for each in entries] == ["user", "assistant"]


@pytest.mark.parametrize(
    "names", [{"turnId": "another"}, {"promptId": "another"}, {"promptId": ""}, {}]
)
async def test_an_abort_that_names_nothing_of_ours_changes_nothing(names: dict[str, str]) -> None:
    go_on = asyncio.Event()

    async def answer(turn: Turn) -> Ended:
        turn.add(TextAdded("so far"))
        await go_on.wait()
        return Ended()

    async with hosted(Scripted(answer)) as host, host.socket() as socket:
        await socket.ask("first")
        await socket.until("message.part.text-delta")
        await socket.send("abort", **names)
        await socket.send("ping")
        await socket.until("pong")
        go_on.set()
        assert (await socket.until("message.finalize"))["reason"] == "end_turn"


async def test_a_turn_that_is_stopped_stays_in_the_history_as_far_as_it_came() -> None:
    async with hosted(Scripted(for_ever)) as host:
        async with host.socket() as socket:
            await socket.ask("first")
            await socket.until("message.part.text-delta")
            await socket.send("abort", promptId="p1")
            await socket.rest()
        async with host.socket() as later:
            parts = later.seen[0]["session"]["messages"][-1]["parts"]
            assert parts == [
                {"type": "text", "text": "so far"},
                {"type": "finish", "reason": "canceled"},
            ]


async def _queued(host: Hosted, count: int) -> None:
    while True:
        async with host.socket() as socket:
            if socket.seen[0]["data"]["promptsQueued"] == count:
                return


@pytest.mark.parametrize("is_stopped", [True, False])
async def test_what_is_left_open_by_a_stop_is_unknown_and_what_models_used_is_kept(
    *, is_stopped: bool
) -> None:
    """And what is left open by a driver that raises."""
    journal = MemoryJournal()

    async def answer(turn: Turn) -> Ended:
        step = StepEnded(
            turn_id=turn.turn_id,
            step=0,
            message=Assistant((Text("I pay."),)),
            finish_reason="tool-calls",
            usage=Usage(input=3, output=4),
        )
        begun = CallBegun(
            turn_id=turn.turn_id,
            call_id="c1",
            tool="pay",
            key="k1",
            effect="once",
            input=Raw(b"{}"),
        )
        await turn.write(step, begun, effects=effects.intent(turn.session_id, begun))
        if not is_stopped:
            raise RuntimeError
        return await for_ever(turn)

    async with hosted(Scripted(answer), journal) as host, host.socket() as socket:
        await socket.ask("first")
        if is_stopped:
            await socket.until("message.part.text-delta")
            await socket.send("abort", promptId="p1")
        end = await socket.until("message.finalize")
        if is_stopped:
            assert end["usage"] == {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}
        effect = await journal.effect(effects.key("s1", end["turnId"], "c1"))
        assert effect is not None
        assert effect.state == "unknown"
