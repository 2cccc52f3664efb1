"""A token that expires in mid-turn: the turn finishes, or is cut where the settings say so."""

import time

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only
from gateway.clients import errors, is_whole, post, said
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until

pytestmark = pytest.mark.sockets


def short_lived() -> dict[str, str]:
    """Headers with a token of which a second or two are left."""
    return bearer(exp=int(time.time()) + 2)


async def test_by_default_the_turn_finishes() -> None:
    headers = short_lived()
    ends_at = int(time.time()) + 2

    async def slow(line: Line) -> None:
        await begin_only(line)
        await until(lambda: time.time() > ends_at + 0.2)
        await line.say(frames.delta(" world"), frames.finalize())

    async with ScriptedAgent(slow) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway, headers=headers)
        refused = await post(gateway, headers=headers)

        assert (said(response.text), errors(response.text)) == ("Hello world", [])
        assert is_whole(response.text)
        assert refused.status_code == 401
        assert agent.lines[0].aborts == []


@pytest.mark.fault(
    "a token expires in mid-turn, with `TURNWIRE_TOKEN_EXPIRY=cut`",
    "“The token has expired”; the turn is aborted",
)
async def test_a_stream_is_cut_and_its_turn_aborted_where_the_settings_say_so() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url(), token_expiry="cut") as gateway,
    ):
        response = await post(gateway, headers=short_lived())
        await until(lambda: agent.lines[0].closed)

        assert (said(response.text), errors(response.text)) == ("Hello", ["The token has expired"])
        assert is_whole(response.text)
        assert len(agent.lines[0].aborts) == 1
        assert gateway.ended("expired") == 1


@pytest.mark.parametrize(("policy", "aborts"), [("continue", 0), ("abort", 1)])
async def test_the_policy_of_the_request_says_what_becomes_of_the_turn(
    policy: str, aborts: int
) -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url(), token_expiry="cut") as gateway,
    ):
        await post(gateway, headers=short_lived(), params={"onDisconnect": policy})
        await until(lambda: agent.lines[0].closed)

        assert len(agent.lines[0].aborts) == aborts


async def test_leeway_counts_and_a_token_for_longer_is_not_cut() -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), token_expiry="cut", jwt_leeway_s=60) as gateway,
    ):
        late = await post(gateway, headers=bearer(exp=int(time.time()) - 5))
        distant = await post(gateway, headers=bearer(exp=10**400))

        assert is_whole(late.text)
        assert errors(late.text) == errors(distant.text) == []
        assert gateway.ended("completed") == 2
