"""A turn that is resumed: by two at once, from another process, from the queue, after a kill."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.clients import Json, is_whole, outline, said
from gateway.process import Process
from gateway.reading import App, question_id, turn_id
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.testing.client_model import read
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.journal import Run
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

ASK = "ask me: tea or coffee?"
STORY = "tell me a long story"
SLOWLY = Habits(pace_s=0.002)
MOMENTS = ("keeper", "miller", "pilot", "binder", "guide", "clerk", "gardener", "smith", "coin")
"""Words of the story, in its order."""


def runs(agent: ReferenceAgent, session: str = "s1") -> list[Run]:
    return list(agent.journal.of(session))


def shown(body: bytes) -> Json:
    """The message of a whole stream, as a client would hold it."""
    answer = read(body)
    return {"id": answer.message_id, "role": "assistant", "parts": answer.parts}


async def over(agent: ReferenceAgent, number: int = 0) -> Run:
    """Wait for the end of a turn."""
    await until(lambda: len(runs(agent)) > number and runs(agent)[number].reason)
    return runs(agent)[number]


@asynccontextmanager
async def left_behind(
    app: App, policy: str = "continue", text: str = ASK
) -> AsyncIterator[tuple[str, str]]:
    """A turn that waits for an answer while its client is gone: its id and its question's."""
    async with app.prompt(text, policy) as chat:
        asked = await question_id(chat)
        turn = turn_id(chat.body)
    yield turn, asked


async def test_two_resume_at_once_and_both_get_the_whole_turn() -> None:
    async with ReferenceAgent(SLOWLY) as agent, Gateway(agent.url) as gateway:
        app = App(gateway)
        async with app.prompt(STORY, "continue") as chat:
            await chat.sees("lighthouse")
        async with app.resume() as one, app.resume() as other:
            bodies = [await one.end(), await other.end()]
        (asked, answered) = await app.messages()

    assert shown(bodies[0]) == shown(bodies[1]) == answered
    assert asked["parts"] == [{"type": "text", "text": STORY}]
    assert said(bodies[0]).endswith("this is the end.")


async def test_one_who_never_left_and_one_who_resumed_see_the_same() -> None:
    async with ReferenceAgent(SLOWLY) as agent, Gateway(agent.url) as gateway:
        app = App(gateway)
        async with app.prompt(STORY) as chat:
            await chat.sees("miller")
            async with app.resume() as other:
                assert shown(await other.end()) == shown(await chat.end())


async def test_another_gateway_resumes_what_the_first_began() -> None:
    async with (
        ReferenceAgent() as agent,
        Gateway(agent.url) as first,
        Gateway(agent.url) as second,
        left_behind(App(first)) as (turn, asked),
        App(second).resume() as chat,
    ):
        assert await question_id(chat) == asked
        assert (await App(first).answer(asked, "tea")).status_code == 202
        body = await chat.end()
        (_, answered) = await App(first).messages()

    assert is_whole(body)
    assert answered["id"] == turn
    assert shown(body) == answered
    assert "you said **tea**" in said(body)


@pytest.mark.fault(
    "the gateway is killed, with the policy `continue`",
    "another gateway resumes the turn, and nothing is lost",
)
async def test_a_gateway_killed_in_mid_turn_loses_nothing() -> None:
    async with ReferenceAgent() as agent:
        async with (
            Process(agent.url, on_disconnect="continue") as gateway,
            App(gateway).prompt(ASK) as chat,
        ):
            asked = await question_id(chat)
            gateway.signal(signal.SIGKILL)
            await gateway.ended()
            await until(lambda: agent.connections == 0)
        async with Process(agent.url, on_disconnect="continue") as gateway:
            app = App(gateway)
            async with app.resume() as chat:
                assert await question_id(chat) == asked
                await app.answer(asked, "coffee")
                body = await chat.end()
            (_, answered) = await app.messages()

    assert shown(body) == answered
    assert said(body).startswith("Let me ask you something. ")
    assert "you said **coffee**" in said(body)
    assert not runs(agent)[0].aborted


async def test_a_viewer_may_resume_and_read_and_nothing_else() -> None:
    async with ReferenceAgent() as agent, Gateway(agent.url) as gateway:
        viewer = App(gateway, user="u2", role="viewer")
        async with left_behind(App(gateway)) as (_, asked), viewer.resume() as chat:
            await question_id(chat)
            async with viewer.prompt("hi") as refused:
                assert refused.response.status_code == 404
            assert (await viewer.stop()).status_code == 404
            assert (await viewer.answer(asked, "tea")).status_code == 404
            assert [message["role"] for message in await viewer.messages()] == ["user"]
            await App(gateway).answer(asked, "tea")
            assert is_whole(await chat.end())

    assert len(runs(agent)) == 1


@pytest.mark.parametrize("policy", ["abort", "continue", "grace"])
async def test_a_hang_up_of_a_resumed_stream_leaves_the_turn_alone(policy: str) -> None:
    async with (
        ReferenceAgent() as agent,
        Gateway(agent.url, on_disconnect=policy, grace_s=30) as gateway,
        left_behind(App(gateway)) as (_, asked),
    ):
        async with App(gateway).resume() as chat:
            await question_id(chat)
        await gateway.has_ended("client_gone")
        await until(lambda: agent.connections == 1)  # the prompt's own goes on
        assert not [frame for frame in agent.received if frame["type"] == "abort"]
        await App(gateway).answer(asked, "tea")
        assert (await over(agent)).reason == "end_turn"


async def test_what_waits_in_the_queue_is_waited_for_and_then_told() -> None:
    async with ReferenceAgent() as agent, Gateway(agent.url) as gateway:
        app, other = App(gateway), App(gateway, user="u2", threadId="t2")
        async with left_behind(other) as (_, asked):
            async with app.prompt("what is 12*7?", "continue") as queued:
                await queued.sees("queued")
            async with app.resume() as chat:
                await chat.sees("queued")
                assert "start" not in outline(chat.body)
                await other.answer(asked, "tea")
                body = await chat.end()
            (_, answered) = await app.messages()

    assert shown(body) == answered
    assert "is **84**" in said(body)


async def test_nothing_runs_on_this_channel() -> None:
    async with (
        ReferenceAgent() as agent,
        Gateway(agent.url) as gateway,
        left_behind(App(gateway)) as (_, asked),
    ):
        async with App(gateway, threadId="t2").resume() as chat:
            assert chat.response.status_code == 204
            assert await chat.end() == b""
            assert chat.response.headers["cache-control"] == "no-store"
            assert chat.response.headers["x-request-id"]
        await App(gateway).answer(asked, "tea")
        await over(agent)
        async with App(gateway).resume() as chat:
            assert chat.response.status_code == 204
        await gateway.has_ended("nothing", 2)


# A client that may come back.


async def test_nobody_comes_back_within_the_grace() -> None:
    async with (
        ReferenceAgent() as agent,
        Gateway(agent.url, grace_s=0.1) as gateway,
        left_behind(App(gateway), "grace") as (turn, _),
    ):
        run = await over(agent)

    assert (run.turn_id, run.reason, run.aborted) == (turn, "canceled", True)


async def test_to_look_at_the_history_is_not_to_come_back() -> None:
    async with (
        ReferenceAgent() as agent,
        Gateway(agent.url, grace_s=1) as gateway,
        left_behind(App(gateway), "grace"),
    ):
        await App(gateway).messages()

        assert (await over(agent)).aborted


async def test_somebody_comes_back_within_the_grace() -> None:
    async with (
        ReferenceAgent(Habits(noise=False)) as agent,  # which does not tell who joins
        Gateway(agent.url, grace_s=30) as gateway,
        left_behind(App(gateway), "grace") as (_, asked),
        App(gateway).resume() as chat,
    ):
        await gateway.has_ended("client_gone")  # at once, not when the grace is over
        await App(gateway).answer(asked, "tea")
        assert is_whole(await chat.end())
        assert not (await over(agent)).aborted


async def test_somebody_came_back_before_the_hang_up_was_noticed() -> None:
    async with ReferenceAgent() as agent, Gateway(agent.url, grace_s=30) as gateway:
        app = App(gateway)
        async with app.prompt(ASK, "grace") as first:
            asked = await question_id(first)
            async with app.resume() as chat:
                await question_id(chat)
                await first.hang_up()
                await gateway.has_ended("client_gone")
                await app.answer(asked, "tea")
                assert is_whole(await chat.end())
        assert not (await over(agent)).aborted


async def test_who_came_back_and_left_again_is_no_company() -> None:
    given = {"on_disconnect": "grace", "grace_s": 0.1}
    async with ReferenceAgent() as agent, Gateway(agent.url, given=given) as gateway:
        app = App(gateway)
        async with app.prompt(ASK) as first:
            await question_id(first)
            async with app.resume() as chat:
                await question_id(chat)
            await gateway.has_ended("client_gone")
        assert (await over(agent)).aborted


async def test_the_agent_tells_the_first_gateway_who_came_back_to_the_second() -> None:
    async with (
        ReferenceAgent() as agent,
        Gateway(agent.url, grace_s=30) as first,
        Gateway(agent.url) as second,
        left_behind(App(first), "grace") as (_, asked),
        App(second).resume() as chat,
    ):
        await first.has_ended("client_gone")
        await App(second).answer(asked, "tea")
        assert is_whole(await chat.end())
        assert not (await over(agent)).aborted


@pytest.mark.parametrize(
    ("user", "habits"),
    [
        pytest.param("u2", Habits(), id="it was another user"),
        pytest.param("u1", Habits(noise=False), id="the agent does not tell who joins"),
    ],
)
async def test_nobody_came_back_as_far_as_the_first_gateway_can_know(
    user: str, habits: Habits
) -> None:
    async with (
        ReferenceAgent(habits) as agent,
        Gateway(agent.url, grace_s=0.3) as first,
        Gateway(agent.url) as second,
        left_behind(App(first), "grace"),
        App(second, user=user).resume() as chat,
    ):
        assert (await over(agent)).aborted
        assert outline(await chat.end())[-2:] == ["abort", "finish"]


async def test_many_resume_one_turn_at_random_moments() -> None:
    async with ReferenceAgent(SLOWLY) as agent, Gateway(agent.url) as gateway:
        app = App(gateway)

        async def resume(word: str) -> bytes:
            await first.sees(word)
            async with app.resume() as chat:
                return await chat.end()

        async with app.prompt(STORY) as first:
            bodies = await asyncio.gather(*map(resume, MOMENTS))
            whole = await first.end()

    assert [shown(body) == shown(whole) for body in bodies] == [True] * len(MOMENTS)
