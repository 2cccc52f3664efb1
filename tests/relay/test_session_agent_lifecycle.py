"""Sessions that sleep, wake, lose their runner or die, on the `session-agent` wire.

On its revision V: what differs by revision is proved in tests/dialects.
"""

import math

import pytest

from gateway.clients import chatting, errors, is_whole, outline, post, said
from gateway.product import product
from gateway.waiting import until
from turnwire.dialects.session_agent import progress
from turnwire_lab.agents.session_agent.habits import Habits, Status

pytestmark = pytest.mark.sockets

SILENT = "Agent stopped responding"


async def test_a_prompt_wakes_a_session_that_sleeps() -> None:
    async with product(Habits(wake_s=0.01)) as (agent, gateway):
        agent.session("s1").hibernate()
        response = await post(gateway, text="what is 2+2?")

    assert is_whole(response.text)
    assert "queued" in response.text
    assert "4" in said(response.text)


async def test_a_prompt_that_comes_while_it_falls_asleep_is_answered_too() -> None:
    habits = Habits(hibernate_s=math.inf, wake_s=0.01)
    async with product(habits) as (agent, gateway):
        agent.session("s1").hibernate()
        async with chatting(gateway, text="what is 2+2?") as chat:
            await chat.sees("queued")
            agent.session("s1").fall_asleep()
            body = await chat.end()

    assert is_whole(body)
    assert "4" in said(body)


async def test_a_session_that_starts_takes_a_prompt() -> None:
    async with product(Habits(status="initializing", wake_s=0.01)) as (
        _,
        gateway,
    ):
        response = await post(gateway, text="what is 2+2?")

    assert is_whole(response.text)
    assert "4" in said(response.text)


async def test_while_a_session_wakes_the_stream_is_kept_alive() -> None:
    habits = Habits(wake_s=math.inf)
    async with product(habits, keepalive_s=0.05) as (agent, gateway):
        agent.session("s1").hibernate()
        async with chatting(gateway, text="what is 2+2?") as chat:
            await chat.sees("queued")
            await until(lambda: chat.body.count(b": keepalive") > 3)
            agent.session("s1").find_runner()
            body = await chat.end()

    assert is_whole(body)
    assert "4" in said(body)


async def test_a_session_that_never_wakes_ends_the_stream_in_time() -> None:
    habits = Habits(wake_s=math.inf)
    async with product(habits, queue_wait_s=0.3) as (agent, gateway):
        agent.session("s1").hibernate()
        response = await post(gateway)

    assert is_whole(response.text)
    assert errors(response.text) == [SILENT]
    assert not agent.tally.aborts


@pytest.mark.parametrize(("reconnect_s", "loss_s"), [(0.01, math.inf), (math.inf, 0.01)])
async def test_a_runner_that_is_lost_and_comes_back_goes_on_in_the_same_message(
    reconnect_s: float, loss_s: float
) -> None:
    habits = Habits(wake_s=0.01, grace_s=0.01, reconnect_s=reconnect_s, loss_s=loss_s)
    async with product(habits) as (agent, gateway):
        response = await post(gateway, text="lose the runner")

    assert is_whole(response.text)
    assert not errors(response.text)
    assert said(response.text) == (
        "The first runner is about to be lost. The second runner answers.\n"
    )
    assert outline(response.text).count("start") == 1
    [turn] = agent.tally.finished
    assert turn.turn_id not in response.text, "the message keeps its first turn's id"


async def test_a_runner_that_never_comes_back_ends_the_stream_in_time() -> None:
    habits = Habits(reconnect_s=math.inf, loss_s=math.inf, grace_s=0.01)
    async with product(habits, queue_wait_s=0.3) as (agent, gateway):
        response = await post(gateway, text="lose the runner")

    assert is_whole(response.text)
    assert errors(response.text) == [SILENT]
    assert not agent.tally.aborts


async def test_a_prompt_that_waits_when_the_runner_is_lost_is_answered() -> None:
    async with (
        product(Habits(reconnect_s=math.inf)) as (agent, gateway),
        chatting(gateway, text="hold", user="ann") as first,
    ):
        await first.sees("start-step")
        async with chatting(gateway, text="what is 2+2?", user="bob") as second:
            await second.sees("queued")
            agent.session("s1").lose_runner()
            agent.session("s1").find_runner()
            await until(lambda: first.body.count(b"Holding") == 2)
            agent.session("s1").release()
            body = await second.end()
        await first.end()

    assert is_whole(first.body)
    assert said(first.body) == "Holding. Holding. And on.\n"
    assert is_whole(body)
    assert "4" in said(body)


async def test_a_session_put_to_sleep_in_mid_turn_goes_on_when_it_wakes() -> None:
    async with (
        product(Habits(wake_s=0.01)) as (agent, gateway),
        chatting(gateway, text="hold") as chat,
    ):
        await chat.sees("start-step")
        agent.session("s1").hibernate()
        await until(lambda: chat.body.count(b"Holding") == 2)
        agent.session("s1").release()
        body = await chat.end()

    assert is_whole(body)
    assert said(body) == "Holding. Holding. And on.\n"
    assert outline(body).count("start") == 1


async def test_a_prompt_that_waits_when_the_session_is_put_to_sleep_is_answered() -> None:
    async with (
        product(Habits(wake_s=0.01)) as (agent, gateway),
        chatting(gateway, text="hold", user="ann") as first,
    ):
        await first.sees("start-step")
        async with chatting(gateway, text="what is 2+2?", user="bob") as second:
            await second.sees("queued")
            agent.session("s1").hibernate()
            await until(lambda: first.body.count(b"Holding") == 2)
            agent.session("s1").release()
            body = await second.end()
        await first.end()

    assert said(first.body) == "Holding. Holding. And on.\n"
    assert is_whole(body)
    assert said(body) == "Let me work that out. 2+2 is **4**.\n"


@pytest.mark.parametrize("word", ["terminate", "archive"])
async def test_a_session_that_dies_in_mid_turn_ends_it(word: str) -> None:
    async with product(Habits()) as (_, gateway):
        response = await post(gateway, text=word)

    assert is_whole(response.text)
    assert said(response.text) == "This is the end. "
    assert errors(response.text) == [progress.SESSION_OVER]


async def test_a_session_that_dies_ends_what_waits_too() -> None:
    async with (
        product(Habits()) as (agent, gateway),
        chatting(gateway, text="hold", user="ann") as first,
    ):
        await first.sees("start-step")
        async with chatting(gateway, text="wait", user="bob") as second:
            await second.sees("queued")
            agent.session("s1").die("error")
            body = await second.end()
        await first.end()

    assert errors(body) == errors(first.body) == [progress.SESSION_OVER]
    assert is_whole(body)
    assert is_whole(first.body)


@pytest.mark.parametrize("status", ["terminated", "archived", "error"])
async def test_a_dead_session_is_a_conflict_and_hears_no_prompt(status: Status) -> None:
    async with product(Habits(status=status)) as (agent, gateway):
        response = await post(gateway)

    assert response.status_code == 409
    assert not [frame for frame in agent.received if frame["type"] == "prompt"]


async def test_an_agent_that_hangs_up_on_everybody_interrupts_the_stream() -> None:
    async with product(Habits()) as (_, gateway):
        response = await post(gateway, text="hang up")

    assert is_whole(response.text)
    assert errors(response.text) == ["Stream interrupted"]
