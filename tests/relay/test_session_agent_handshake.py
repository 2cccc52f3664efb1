"""The handshake with a session agent, and the size of what it may send."""

from typing import Final

import pytest

from gateway.clients import chatting, errors, is_whole, post, said
from gateway.product import product
from gateway.rawagent import RawAgent
from gateway.running import Gateway
from gateway.tokens import token
from gateway.waiting import until
from turnwire_lab.agents.session_agent.habits import Habits

pytestmark = pytest.mark.sockets

DIALECT = {"dialect": "session-agent"}
MOST: Final = 32 * 1024 * 1024


async def test_both_subprotocols_are_offered_and_the_token_is_in_its_header_alone() -> None:
    given = token("u1")
    async with RawAgent() as agent, Gateway(agent.url(), given=DIALECT) as gateway:
        await post(gateway, headers={"authorization": f"Bearer {given}"})
        [request] = agent.requests

    first, *headers = request.decode().rstrip().split("\r\n")
    assert given not in first
    assert [header for header in headers if given in header] == [f"authorization: Bearer {given}"]
    [offered] = [h for h in headers if h.lower().startswith("sec-websocket-protocol:")]
    assert offered.split(": ")[1] == "valet, agent-ops"


@pytest.mark.parametrize(
    "habits",
    [
        pytest.param(Habits(revision="R"), id="none is echoed"),
        pytest.param(Habits(revision="R", late_february=True), id="agent-ops"),
        pytest.param(Habits(revision="A"), id="A: valet"),
        pytest.param(Habits(revision="V"), id="V: valet"),
    ],
)
async def test_whatever_subprotocol_comes_back_is_taken(habits: Habits) -> None:
    async with product(habits) as (_, gateway):
        response = await post(gateway, text="what is 2+2?")

    assert is_whole(response.text)
    assert "4" in said(response.text)


@pytest.mark.parametrize(
    ("habits", "status", "code"),
    [
        ({"revoked": frozenset({"u1"})}, 401, "unauthorized"),
        ({"forbidden": frozenset({"s1"})}, 404, "not_found"),
        ({"sessions": frozenset({"s2"})}, 404, "not_found"),
    ],
)
async def test_what_the_handshake_says_of_the_users_token_becomes_the_status(
    habits: dict[str, frozenset[str]], status: int, code: str
) -> None:
    async with product(Habits().__replace__(**habits)) as (agent, gateway):
        response = await post(gateway)

    assert (response.status_code, response.json()["code"]) == (status, code)
    assert not agent.received


@pytest.mark.parametrize(
    ("habits", "auth"),
    [
        pytest.param(Habits(), {"agent_auth": "none"}, id="401"),
        pytest.param(
            Habits(forbidden=frozenset({"s1"})),
            {"agent_auth": "service", "agent_token": "service"},
            id="404",
        ),
    ],
)
async def test_what_it_says_of_the_gateways_own_token_is_not_the_users_concern(
    habits: Habits, auth: dict[str, str]
) -> None:
    async with product(habits, given=auth) as (_, gateway):
        response = await post(gateway)

    assert response.status_code == 503
    assert "retry-after" in response.headers


@pytest.mark.parametrize(("beyond", "says"), [(0, []), (1, ["Stream interrupted"])])
async def test_frames_of_32_mib_are_taken_and_larger_ones_end_the_stream(
    beyond: int, says: list[str]
) -> None:
    title = "x" * (MOST - len('{"type":"title","title":""}') + beyond)
    async with (
        product(Habits(revision="V")) as (agent, gateway),
        chatting(gateway, text="hold") as chat,
    ):
        await chat.sees("start-step")
        agent.session("s1").tell({"type": "title", "title": title})
        agent.session("s1").release()
        body = await chat.end()
        await until(lambda: agent.connections == 0)

    assert is_whole(body)
    assert errors(body) == says
