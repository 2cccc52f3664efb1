"""The session agent's door: who comes in, under which name, and what a refusal looks like."""

import httpx
import jwt
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, NegotiationError
from websockets.typing import Subprotocol

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.line import client
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

ANN = {"authorization": "Bearer ann"}


async def refused(url: str, headers: dict[str, str]) -> tuple[int, bytes, str]:
    with pytest.raises(InvalidStatus) as error:
        async with connect(url, additional_headers=headers, proxy=None):
            pass
    response = error.value.response
    return response.status_code, bytes(response.body or b""), response.headers["content-type"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_without_a_token_it_is_401_in_json(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent:
        url = agent.url.format(session_id="s1")
        status, body, kind = await refused(url + "&token=ann", {})

    assert (status, kind) == (401, "application/json")
    assert body == b'{"error":"Missing or invalid authentication","code":"UNAUTHORIZED"}'


async def test_a_token_among_offers_that_make_no_sense_is_none() -> None:
    async with SessionAgent() as agent:
        headers = {"sec-websocket-protocol": "valet,,b c"}
        url = agent.url.format(session_id="s1").replace("ws:", "http:")
        async with httpx.AsyncClient(trust_env=False, headers=headers) as http:
            response = await http.get(url)

    assert response.status_code == 401


@pytest.mark.parametrize("query", ["", "?role=runner", "?role="])
async def test_without_the_role_it_is_400(query: str) -> None:
    async with SessionAgent() as agent:
        url = agent.url.format(session_id="s1").replace("?role=client", query)
        status, body, _ = await refused(url, ANN)

    assert (status, body) == (400, b"Missing or invalid role parameter")


@pytest.mark.parametrize("session_id", ["s2", "secret", ".."])
async def test_absent_and_forbidden_sessions_look_the_same(session_id: str) -> None:
    habits = Habits(sessions=frozenset({"s1", "secret"}), forbidden=frozenset({"secret"}))
    async with SessionAgent(habits) as agent:
        url = agent.url.format(session_id="%2E%2E" if session_id == ".." else session_id)
        status, body, _ = await refused(url, ANN)

    told = f'{{"error":"Session with id \'{session_id}\' not found","code":"NOT_FOUND"}}'
    assert (status, body.decode()) == (404, told)


@pytest.mark.parametrize(
    ("habits", "echo"),
    [
        (Habits(revision="R"), None),
        (Habits(revision="R", late_february=True), "agent-ops"),
        (Habits(revision="A"), "valet"),
        (Habits(revision="V"), "valet"),
    ],
)
async def test_the_sub_protocol_is_echoed_by_revision(habits: Habits, echo: str | None) -> None:
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        assert ours.socket.subprotocol == echo


async def test_a_sub_protocol_is_named_even_to_who_offered_none() -> None:
    async with SessionAgent() as agent:
        url = agent.url.format(session_id="s1")
        with pytest.raises(NegotiationError, match=r"unsupported subprotocol|no subprotocols"):
            async with connect(url, additional_headers=ANN, proxy=None):
                pass


async def test_the_token_may_be_a_sub_protocol() -> None:
    async with SessionAgent() as agent:
        url = agent.url.format(session_id="s1")
        offered = [Subprotocol("valet"), Subprotocol("bearer.bob")]
        async with connect(url, subprotocols=offered, proxy=None):
            await agent.until(lambda: agent.connections == 1)

            assert agent.session("s1").users == ["bob"]


@pytest.mark.parametrize(
    ("headers", "user"),
    [
        ({"x_turnwire_user": "cleo"}, "cleo"),
        ({"authorization": f"Bearer {jwt.encode({'sub': 'dora'}, 'k' * 32)}"}, "dora"),
        ({"authorization": "Bearer opaque"}, "opaque"),
    ],
)
async def test_the_user_is_the_header_or_the_subject_or_the_token(
    headers: dict[str, str], user: str
) -> None:
    async with SessionAgent() as agent, client(agent.url, **headers) as ours:
        await ours.prompt("hello")
        echo = await ours.hear("message", data={"role": "user"})

    assert echo["data"]["authorId"] == user
    assert agent.received_from[0][0] == user
    assert agent.received[0]["type"] == "prompt"


async def test_orchestrator_is_an_alias_for_the_callers_own_session() -> None:
    async with SessionAgent() as agent, client(agent.url, session="orchestrator") as ours:
        init = await ours.hear("init")

    assert init["session"]["id"] == "orchestrator:ann"


async def test_the_plain_routes_answer() -> None:
    async with SessionAgent(Habits(revision="V")) as agent, client(agent.url) as ours:
        await ours.prompt("say 1 deltas")
        await ours.finish(await ours.bind())
        base = agent.access_url.format(session_id="s1").removesuffix("/access")

        async def get(path: str) -> httpx.Response:
            async with httpx.AsyncClient(trust_env=False, headers=ANN) as http:
                return await http.get(base + path)

        access, entries, whole = await get("/access"), await get("/messages"), await get("")
        no_upgrade, nowhere = await get("/ws?role=client"), await get("/else")

    assert access.json() == {"role": "owner", "userId": "ann", "orchestrator": False}
    roles: list[Json] = entries.json()["messages"]
    assert [entry["role"] for entry in roles] == ["user", "assistant"]
    assert roles[0]["createdAt"].endswith("+00:00")
    assert whole.json()["doStatus"] == {
        "status": "running",
        "runnerBusy": False,
        "queuedPrompts": 0,
    }
    assert (no_upgrade.status_code, no_upgrade.text) == (404, "Not found")
    assert nowhere.status_code == 404
