"""Sessions of others: on every route one answer, whatever is wrong, and no WebSocket."""

import asyncio
from typing import Any

import httpx
import pytest

from attacks.routes import ROUTES, Route
from gateway.agent import ScriptedAgent
from gateway.clients import RawClient, new_client, request
from gateway.control_plane import ControlPlane, granted, reply
from gateway.running import Gateway
from gateway.tokens import bearer

pytestmark = pytest.mark.sockets

SESSIONS: dict[str, Any] = {
    "s1": "collaborator",
    "viewed": "viewer",
    "strange": "admin",
    "typed": {"role": "owner"},
    "orchestrator:u1": "collaborator",
}
NOT_YOURS = (
    *("absent", "s2", "S1", "s1.", "strange", "typed"),
    *("orchestrator", "orchestrator:u1", "orchestrator:u2"),
    *("..%2e", "%00", "s1%0a", "x" * 129, "a%40b", "%2e%2e"),
)


def shown(response: httpx.Response) -> tuple[int, dict[str, str], dict[str, str]]:
    """What somebody outside can tell apart."""
    one_off = {"x-request-id", "date"}
    headers = {name: value for name, value in response.headers.items() if name not in one_off}
    return response.status_code, headers, {**response.json(), "requestId": ""}


@pytest.mark.attack(
    "using the session of another user, or a viewer who prompts, stops or answers",
    "404, as for a session that does not exist; the agent is not dialled",
)
async def test_absent_not_yours_and_too_little_are_one_answer_on_every_route() -> None:
    seen = []
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url()) as gateway,
        new_client() as client,
    ):
        for route in ROUTES:
            too_little = ("viewed",) if route.prompts else ()
            for session in (*NOT_YOURS, *too_little):
                headers = bearer(sessions=SESSIONS)
                response = await route.call(client, gateway.url, headers, session=session)
                seen.append(shown(response))

        assert {status for status, _, _ in seen} == {404}
        assert all(answer == seen[0] for answer in seen)
        assert agent.connections == 0


@pytest.mark.attack(
    "a request without a token, or with a forged one", "401 before anything is read"
)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
async def test_nobody_gets_to_any_route(route: Route) -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url()) as gateway,
        new_client() as client,
    ):
        token = bearer(sessions=SESSIONS)["authorization"]
        for headers in ({}, {"authorization": token[:-4]}, {"cookie": f"authorization={token}"}):
            response = await route.call(client, gateway.url, headers)
            assert response.status_code == 401
        query = {"access_token": token, "token": token, "authorization": token}
        assert (await route.call(client, gateway.url, {}, params=query)).status_code == 401
        assert agent.connections == 0


@pytest.mark.attack(
    "using the session of another user, where the control plane decides who may",
    "one 404 for its 403, its 404 and too low a role; the agent is not dialled",
)
async def test_the_control_planes_reasons_are_one_answer_on_every_route() -> None:
    says = {"403": reply(403, b"the-secret-reason"), "404": reply(404), "role": granted("viewer")}
    seen = []
    async with (
        ScriptedAgent() as agent,
        ControlPlane() as plane,
        Gateway(agent.url(), given=plane.settings()) as gateway,
        new_client() as client,
    ):
        for why, plane.says in says.items():
            for route in ROUTES:
                if route.prompts or why != "role":
                    headers = {"authorization": f"Bearer opaque-{why}-{route.name}"}
                    seen.append(shown(await route.call(client, gateway.url, headers)))

        assert len(plane.questions) == len(seen)
        assert agent.connections == 0
    assert {status for status, _, _ in seen} == {404}
    assert all(answer == seen[0] for answer in seen)


@pytest.mark.attack("a token of 1 MB", "400, as any head over 64 KiB; below that it is a 401")
@pytest.mark.parametrize(("size", "status"), [(1_048_576, 400), (70_000, 400), (60_000, 401)])
async def test_a_huge_token_is_none(size: int, status: int) -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        sending = asyncio.create_task(
            client.send(request(headers={"authorization": f"Bearer {'a' * size}"}))
        )
        assert (await client.read()).startswith(f"HTTP/1.1 {status} ".encode())
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
