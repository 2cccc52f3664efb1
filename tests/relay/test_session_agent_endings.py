"""Prompts that get no turn of their own on the `session-agent` wire: each says why."""

import pytest

from gateway.clients import chatting, errors, is_whole, outline, post, said
from gateway.product import product
from turnwire.dialects.session_agent import progress
from turnwire_lab.agents.session_agent.habits import Habits, Revision
from turnwire_lab.agents.session_agent.line import client

pytestmark = pytest.mark.sockets


async def test_a_slash_command_is_answered_by_the_agent_itself() -> None:
    async with product(Habits(revision="V")) as (_, gateway):
        response = await post(gateway, text="/status")

    assert is_whole(response.text)
    assert not errors(response.text)
    assert said(response.text) == "Session s1 is running."


@pytest.mark.parametrize("revision", ["R", "A"])
async def test_before_v_a_slash_command_is_a_prompt(revision: Revision) -> None:
    async with product(Habits(revision=revision)) as (_, gateway):
        response = await post(gateway, text="/status")

    assert is_whole(response.text)
    assert "> /status" in said(response.text)


async def test_a_prompt_that_is_taken_as_an_answer_says_so() -> None:
    async with (
        product(Habits(revision="V", owner="ann")) as (_, gateway),
        chatting(gateway, text="ask me", user="ann") as first,
    ):
        await first.sees("data-question")
        response = await post(gateway, text="yes", user="ann")
        body = await first.end()

    assert is_whole(response.text)
    assert errors(response.text) == [progress.ANSWERED]
    assert is_whole(body)
    assert said(body) == "You said: yes.\n"


async def test_anybody_elses_prompt_is_no_answer() -> None:
    async with (
        product(Habits(revision="V", owner="ann")) as (_, gateway),
        chatting(gateway, text="ask me", user="ann") as first,
    ):
        await first.sees("data-question")
        async with chatting(gateway, text="yes", user="bob") as second:
            await second.sees("queued")
            await post(gateway, text="no", user="ann")
            await first.end()
            body = await second.end()

    assert said(first.body) == "You said: no.\n"
    assert "> yes" in said(body)


async def test_a_queue_that_is_cleared_ends_who_waits_in_it() -> None:
    async with (
        product(Habits()) as (agent, gateway),
        chatting(gateway, text="hold", user="ann") as first,
    ):
        await first.sees("start-step")
        async with chatting(gateway, text="wait", user="bob") as second:
            await second.sees("queued")
            agent.session("s1").clear_queue()
            body = await second.end()
        agent.session("s1").release()
        await first.end()

    assert is_whole(body)
    assert errors(body) == [progress.DROPPED]
    assert said(first.body) == "Holding. And on.\n"


async def test_an_evicted_prompt_ends() -> None:
    async with (
        product(Habits()) as (agent, gateway),
        chatting(gateway, text="hold", user="ann") as first,
    ):
        await first.sees("start-step")
        async with (
            chatting(gateway, text="wait", user="bob") as second,
            chatting(gateway, text="what is 2+2?", user="cat") as third,
        ):
            await second.sees("queued")
            evicted = await second.end()
            agent.session("s1").release()
            body = await third.end()
        await first.end()

    assert is_whole(evicted)
    assert errors(evicted) == [progress.EVICTED]
    assert "start-step" not in outline(evicted)
    assert is_whole(first.body)
    assert "4" in said(body)


async def test_on_r_somebodys_abort_empties_the_queue_and_says_so() -> None:
    async with (
        product(Habits(revision="R")) as (agent, gateway),
        chatting(gateway, text="hang", user="ann") as first,
    ):
        await first.sees("start-step")
        async with chatting(gateway, text="wait", user="bob") as second:
            await second.sees("queued")
            async with client(agent.url, "cat") as other:
                await other.say(type="abort")
                await other.hear("audit_log", entry={"eventType": "user.abort"})
            body = await second.end()
        await first.end()

    assert errors(body) == [progress.DROPPED]
    assert "abort" in outline(first.body)
