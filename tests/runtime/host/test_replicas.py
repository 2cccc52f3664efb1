"""Several replicas, one journal: each serves all sessions, one holds each."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.waiting import PATIENCE_S
from runtime.host.hosted import QUICK, Opening, Scripted, echo, hosted, words
from turnwire_agent.host.driver import Ended, Parked, Turn
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Appended
from turnwire_agent.session.deltas import TextAdded
from turnwire_agent.session.events import QuestionAsked, QuestionClosed, TurnTakenOver


async def test_a_follower_at_another_replica_gets_each_word_once(opening: Opening) -> None:
    async with (
        hosted(Scripted(echo), opening()) as here,
        hosted(Scripted(echo), opening()) as there,
        here.socket() as one,
        there.socket() as two,
    ):
        frames = await one.turn("one two three")
        assert await two.rest() == frames
        assert words(await two.turn("four", "p2")) == "four "
        assert words(await one.rest("p2")) == "four "


async def test_a_stop_and_an_answer_reach_the_holder_from_any_replica(opening: Opening) -> None:
    async def answer(turn: Turn) -> Ended:
        turn.add(TextAdded("so far"))
        if turn.prompt.content == "wait":
            await asyncio.Event().wait()
        asked = QuestionAsked(turn_id=turn.turn_id, question_id="q1", text="Which?")
        await turn.write(asked)
        await turn.changed()
        closed = turn.events[-1]
        assert isinstance(closed, QuestionClosed)
        turn.add(TextAdded(f" {bytes(closed.answer).decode()} by {closed.user_id}"))  # type: ignore[arg-type]
        return Ended()

    async with (
        hosted(Scripted(answer), opening()) as here,
        hosted(Scripted(answer), opening()) as there,
        here.socket() as one,
        there.socket(x_turnwire_user="ann") as two,
    ):
        await one.ask("wait")
        turn = await two.until("message.part.text-delta")
        await two.send("abort", turnId=turn["turnId"])
        assert (await one.until("message.finalize"))["reason"] == "canceled"

        await one.ask("ask", "p2")
        await two.until("question")
        await two.send("answer", questionId="q1", answer={"of": 2})
        assert words(await one.rest("p2")).endswith('so far {"of": 2} by ann')


async def test_a_replica_that_stops_hands_its_turn_over_at_once(opening: Opening) -> None:
    async def answer(turn: Turn) -> Ended:
        if isinstance(turn.events[-1], TurnTakenOver):
            turn.add(TextAdded(" and on"))
            return Ended()
        turn.add(TextAdded("so far"))
        await asyncio.Event().wait()
        return Ended()

    patient = QUICK.__class__(lease_s=30, stop_s=0.3)
    async with hosted(Scripted(answer), opening(), patient) as there, there.socket() as two:
        async with hosted(Scripted(answer), opening(), patient) as here, here.socket() as one:
            await one.ask("hello")
            await two.until("message.part.text-delta")
        frames = await two.rest()
        assert words(two.seen) == "so far and on"
        assert frames[-2]["reason"] == "end_turn"


async def test_a_turn_that_waits_for_a_person_is_held_by_nobody(opening: Opening) -> None:
    calls = 0

    async def answer(turn: Turn) -> Ended | Parked:
        nonlocal calls
        calls += 1
        if calls == 1:
            asked = QuestionAsked(turn_id=turn.turn_id, question_id="q1", text="Which?")
            await turn.write(asked)
            return Parked()
        assert isinstance(turn.events[-1], QuestionClosed)
        turn.add(TextAdded("thanks"))
        return Ended()

    async with hosted(Scripted(answer), opening()) as here, here.socket() as one:
        await one.ask("hello")
        await one.until("question")
    journal = opening()
    await journal.start()
    # Nobody is there: the lease is free.
    lease = await journal.claim("s1", "somebody", 0.01)
    assert lease is not None
    await asyncio.sleep(0.02)
    async with hosted(Scripted(answer), opening()) as there, there.socket() as two:
        assert two.seen[0]["data"]["runnerBusy"] is True
        await two.send("answer", questionId="q1", answer="both")
        frames = await two.rest()
        assert words(frames) == "thanks"
        assert calls == 2
        rows = await journal.read("s1", details=True)
        assert not any(row.kind.startswith("turn-taken-over") for row in rows)
    await journal.aclose()


async def test_a_stop_reaches_a_holder_that_has_no_socket_of_the_session(opening: Opening) -> None:
    async def answer(_: Turn) -> Ended:
        await asyncio.Event().wait()
        return Ended()

    async with (
        hosted(Scripted(answer), opening()),
        # It takes no turns: the other one finds the prompt when it looks.
        hosted(Scripted(answer), opening(), replace(QUICK, turns=0)) as there,
        there.socket() as socket,
        asyncio.timeout(PATIENCE_S),
    ):
        await socket.ask("hello")
        await socket.until("message.create")
        await socket.send("abort", promptId="p1")
        assert (await socket.until("message.finalize"))["reason"] == "canceled"


async def test_a_lease_that_is_given_up_while_others_are_prolonged_is_not_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class AnswersLate(MemoryJournal):
        async def append(self, *args: Any, **kwargs: Any) -> Appended:
            appended = await super().append(*args, **kwargs)
            if kwargs.get("release"):
                await asyncio.sleep(0.5)  # leases are prolonged every 0.2 s
            return appended

    async with hosted(Scripted(echo), AnswersLate()) as host, host.socket() as socket:
        await socket.turn("hello")
        await asyncio.sleep(0.7)
        assert words(await socket.turn("again", "p2")) == "again "
    assert "lease-lost" not in caplog.text
