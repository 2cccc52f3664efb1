"""Tokens that only the control plane knows, from the request to the agent and back."""

import asyncio
import json
import signal
import time
from typing import Any

import httpx
import pytest

from gateway.agent import ScriptedAgent, begin_only
from gateway.asgi import Exchange
from gateway.clients import ask, chatting, is_whole, new_client, post, said
from gateway.control_plane import ControlPlane, granted, reply
from gateway.process import Process, command, environ
from gateway.running import NOWHERE, Gateway, settings
from gateway.tokens import OTHER_KEY, token
from gateway.waiting import until
from turnwire.web.app import create_app
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

OPAQUE = "tok_9f8e7d6c5b4a-~+/="


def bearer(given: str = OPAQUE) -> dict[str, str]:
    return {"authorization": f"Bearer {given}"}


async def test_the_user_that_the_control_plane_names_prompts() -> None:
    async with (
        ControlPlane(granted(user="ann")) as plane,
        ScriptedAgent() as agent,
        Gateway(agent.url(), given=plane.settings()) as gateway,
    ):
        response = await post(gateway, headers={**bearer(), "x-request-id": "r-7"})

    assert said(response.text) == "Hello world"
    assert is_whole(response.text)
    (question,) = plane.questions
    assert question.path == "/api/sessions/s1/access"
    assert question.headers["authorization"] == f"Bearer {OPAQUE}"
    assert question.headers["x-request-id"] == "r-7"
    assert agent.lines[0].headers["authorization"] == f"Bearer {OPAQUE}"


async def test_an_agent_that_gets_no_token_of_theirs_gets_their_name() -> None:
    async with (
        ControlPlane(granted(user="ann@example")) as plane,
        ScriptedAgent() as agent,
        Gateway(agent.url(), given=plane.settings(agent_auth="none")) as gateway,
    ):
        await post(gateway, headers=bearer())

    assert agent.lines[0].headers["x-turnwire-user"] == "ann@example"
    assert "authorization" not in agent.lines[0].headers


async def test_the_next_prompt_within_seconds_is_not_asked_about() -> None:
    async with (
        ControlPlane(granted()) as plane,
        ScriptedAgent() as agent,
        Gateway(agent.url(), given=plane.settings(access_cache_s=60)) as gateway,
    ):
        for _ in range(3):
            assert is_whole((await post(gateway, headers=bearer())).text)
        await post(gateway, headers=bearer("another"))

    assert len(plane.questions) == 2


async def test_streams_are_counted_by_the_user_that_the_control_plane_names() -> None:
    async with (
        ControlPlane(granted(user="ann")) as plane,
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url(), given=plane.settings(max_streams_per_user=1)) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        async with client.stream("POST", url, json=ask(), headers=bearer("one")):
            second = await post(gateway, headers=bearer("two"))
        await until(lambda: len(gateway.streams) == 0)

    assert second.status_code == 429


@pytest.mark.parametrize(
    ("says", "status", "code"),
    [
        (reply(401), 401, "unauthorized"),
        (reply(403), 404, "not_found"),
        (reply(404), 404, "not_found"),
        (granted("viewer"), 404, "not_found"),
        (granted("collaborator", orchestrator=True), 404, "not_found"),
        (granted("admin"), 503, "unavailable"),
        (granted("owner", user=""), 503, "unavailable"),
        (reply(302, b"", "location: http://127.0.0.1:1/"), 503, "unavailable"),
        (reply(500, b"the database password"), 503, "unavailable"),
        (b"garbage\r\n\r\n", 503, "unavailable"),
    ],
)
async def test_what_the_control_plane_says_is_the_status_and_no_agent_is_dialled(
    says: bytes, status: int, code: str
) -> None:
    async with (
        ControlPlane(says) as plane,
        ScriptedAgent() as agent,
        Gateway(agent.url(), given=plane.settings()) as gateway,
    ):
        response = await post(gateway, headers={**bearer(), "x-request-id": "r-7"})
        again = await post(gateway, headers=bearer())

        assert gateway.counted("turnwire_refusals_total", code=code) == 2

    assert response.status_code == again.status_code == status
    assert response.json().keys() == {"error", "code", "requestId"}
    assert (response.json()["code"], response.json()["requestId"]) == (code, "r-7")
    assert response.headers["cache-control"] == "no-store"
    assert ("retry-after" in response.headers) is (status == 503)
    assert "password" not in response.text
    # What they may is remembered, be it too little, and for seconds whose token is nobody's;
    # that they may nothing here is not, and an outage neither.
    is_remembered = says == granted("viewer") or status == 401
    assert len(plane.questions) == (1 if is_remembered else 2)
    assert agent.connections == 0


async def test_absent_forbidden_and_not_enough_are_one_answer() -> None:
    bodies: list[dict[str, Any]] = []
    for says in (reply(403), reply(404), granted("viewer"), granted("viewer", orchestrator=True)):
        async with ControlPlane(says) as plane, Gateway(given=plane.settings()) as gateway:
            response = await post(gateway, headers={**bearer(), "x-request-id": "r-7"})
            headers = {k: v for k, v in response.headers.items() if k != "date"}
            bodies.append({**headers, "status": response.status_code, "body": response.text})

    assert all(body == bodies[0] for body in bodies)


async def test_a_control_plane_that_hangs_is_503_in_the_dial_time() -> None:
    async with (
        ControlPlane() as plane,
        Gateway(given=plane.settings(dial_s=0.2)) as gateway,
    ):
        response = await post(gateway, headers=bearer())

    assert response.status_code == 503


async def test_nobody_is_asked_about_what_needs_no_answer() -> None:
    async with ControlPlane(granted()) as plane:
        app = create_app(settings(NOWHERE, **plane.settings()))
        for authorization, path, status in [
            ([], "/api/sessions/s1/chat", 401),
            (["Bearer two words"], "/api/sessions/s1/chat", 401),
            (["Bearer caf\xe9"], "/api/sessions/s1/chat", 401),
            ([f"Bearer {OPAQUE}"], "/api/sessions/a%0Ab/chat", 404),
            ([f"Bearer {OPAQUE}"], "/api/sessions/%2e%2e/chat", 404),
        ]:
            headers = [("authorization", value) for value in authorization]
            done = await Exchange(app, path=path, headers=headers).run()

            assert (done.status, done.read) == (status, 0)

    assert not plane.questions


async def test_the_body_is_not_read_before_the_control_plane_has_answered() -> None:
    async with ControlPlane(reply(404)) as plane:
        app = create_app(settings(NOWHERE, **plane.settings()))
        async with app.router.lifespan_context(app):
            done = await Exchange(app, headers=[("authorization", f"Bearer {OPAQUE}")]).run()

    assert (done.status, done.read) == (404, 0)


async def test_a_signed_token_may_be_asked_about_too() -> None:
    """The signature is checked here; user and role are what the control plane says."""
    async with (
        ControlPlane(granted(user="ann")) as plane,
        ScriptedAgent() as agent,
        Gateway(
            agent.url(), access="http", access_url=plane.url, agent_auth="none", access_cache_s=60
        ) as gateway,
    ):
        good = token("somebody", sessions={"s1": "viewer"})
        whole = await post(gateway, headers=bearer(good))
        for bad in (token(key=OTHER_KEY), token(exp=int(time.time()) - 1), OPAQUE):
            assert (await post(gateway, headers=bearer(bad))).status_code == 401

    assert is_whole(whole.text)
    assert agent.lines[0].headers["x-turnwire-user"] == "ann"
    assert len(plane.questions) == 1


async def test_stopping_closes_the_connections_to_the_control_plane() -> None:
    async with (
        ControlPlane(granted()) as plane,
        ScriptedAgent() as agent,
        Gateway(agent.url(), given=plane.settings()) as gateway,
    ):
        await post(gateway, headers=bearer())
        assert plane.open == 1
        gateway.stop()
        await gateway.stopped()
        await until(lambda: plane.open == 0)


async def test_so_does_stopping_in_a_hurry() -> None:
    async with (
        ControlPlane(granted()) as plane,
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url(), given=plane.settings(drain_s=60)) as gateway,
        chatting(gateway) as chat,
    ):
        await chat.sees("Hello")
        for _ in range(2):
            gateway.server.handle_exit(signal.SIGINT, None)
        await gateway.stopped()
        await until(lambda: plane.open == 0)
        gateway.streams.drain()
        await chat.hang_up()


@pytest.mark.parametrize("revision", REVISIONS)
async def test_with_the_labs_session_agent(revision: Revision) -> None:
    habits = Habits(revision=revision, forbidden=frozenset({"not-mine"}))
    async with SessionAgent(habits) as agent:
        given = ControlPlane().settings(access_url=agent.access_url, dialect="session-agent")
        async with Gateway(agent.url, given=given) as gateway:
            whole = await post(gateway, text="what is 12*7?", headers=bearer("ann"))
            absent = await post(gateway, session="not-mine", headers=bearer("ann"))
            nobody = await post(gateway, headers={"authorization": "Bearer"})
            others = await post(gateway, session="orchestrator:bob", headers=bearer("ann"))

        assert is_whole(whole.text)
        assert "84" in said(whole.text)
        assert (absent.status_code, nobody.status_code) == (404, 401)
        assert others.status_code == 404
        assert {user for user, frame in agent.received_from if frame["type"] == "prompt"} == {"ann"}


async def test_with_the_labs_other_agent() -> None:
    async with ReferenceAgent() as agent:
        given = ControlPlane().settings(access_url=agent.access_url)
        async with Gateway(agent.url, given=given) as gateway:
            response = await post(gateway, text="what is 12*7?", headers=bearer())

    assert is_whole(response.text)
    assert "84" in said(response.text)


@pytest.mark.attack("reading opaque tokens in the log", "they are never logged")
async def test_as_a_process_it_logs_neither_token_nor_each_question() -> None:
    async with ControlPlane(granted(user="ann")) as plane, ScriptedAgent() as agent:
        async with (
            Process(agent.url(), **plane.settings(access_cache_s=0)) as gateway,
            new_client() as client,
        ):

            async def prompt() -> httpx.Response:
                url = f"{gateway.url}/api/sessions/s1/chat"
                return await client.post(url, json=ask(), headers=bearer())

            whole = await prompt()
            malformed = await client.post(
                f"{gateway.url}/api/sessions/s1/chat", json={}, headers=bearer()
            )
            plane.says = reply(500, json.dumps({"echo": OPAQUE}).encode())
            failed = await prompt()
            gateway.signal()
            await gateway.ended()
        await until(lambda: plane.open == 0)

    assert is_whole(whole.text)
    assert failed.status_code == 503
    (line,) = gateway.logged("the control plane failed")
    assert (line["problem"], line["level"]) == ("status 500", "warning")
    known, unknown = gateway.logged("refused")
    assert malformed.status_code == 400
    assert (known["code"], known["user_id"]) == ("bad_request", "ann")
    assert (unknown["code"], unknown["user_id"]) == ("unavailable", None)
    assert unknown["request_id"] == line["request_id"]
    assert gateway.logged("stream ended")[0]["user_id"] == "ann"
    assert OPAQUE[:12] not in gateway.errors
    assert "/access" not in gateway.errors
    assert "Traceback" not in gateway.errors


@pytest.mark.parametrize("given", [{"auth": "opaque"}, {"auth": "opaque", "access": "open"}])
async def test_without_a_control_plane_nothing_starts(given: dict[str, str]) -> None:
    code, out, err = await command("serve", env=environ(jwt_key="", **given))

    assert (code, out) == (1, "")
    assert err == "turnwire: TURNWIRE_AUTH: `opaque` needs TURNWIRE_ACCESS=http\n"


async def test_a_stopped_question_does_not_outlive_its_gateway() -> None:
    async with ControlPlane() as plane, Gateway(given=plane.settings(dial_s=0.3)) as gateway:
        client = asyncio.create_task(post(gateway, headers=bearer()))
        await until(lambda: plane.questions)
        gateway.stop()

        assert (await client).status_code == 503
        await gateway.stopped()
