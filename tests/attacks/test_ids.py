"""Ids that want to be something else: part of a URL, a header, a second frame."""

import json
from typing import Any
from urllib.parse import quote, unquote

import httpx
import pytest

from attacks.routes import RESUME, ROUTES
from gateway.agent import Line, ScriptedAgent, answer
from gateway.clients import Json, ask, new_client
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until

pytestmark = pytest.mark.sockets

NASTY = (
    *("..", ".", "../../admin", "..%2f..%2fadmin", "a/../../b", "//evil.example/x"),
    *("a?role=owner", "a#b", "a@evil.example", "http://127.0.0.1:1/", "a%0d%0ab", "{session_id}"),
    *("a\r\nx-evil: 1", "a\nb", "a\0b", "a\x1b[31m", "a\u2028b", "a\u202eb", "é", "\U0001f600"),
    *('"},{"type":"abort"', "\\", "'", "a b", "x" * 256, "x" * 3000),
)


async def frames_to(line: Line) -> list[Json]:
    """What the gateway said, once it has said something."""
    await until(lambda: line.heard)
    return line.heard


async def talkative(line: Line) -> None:
    """A turn for whoever prompts; for others, an agent at rest."""
    await line.say({"type": "init", "session": {"messages": []}, "data": {}})
    await answer(line)


@pytest.mark.attack(
    "a session id that is a path, a query, a host, a header or a placeholder",
    "404 before any dial; an id that passes stands in the path alone, percent-encoded",
)
async def test_a_session_id_is_a_part_of_one_path_or_nothing() -> None:
    sound = ("a.b:c-d_E9", "...", ".a", "a..b", "x" * 128, ":", "--")
    async with (
        ScriptedAgent(talkative) as agent,
        Gateway(agent.url()) as gateway,
        new_client() as client,
    ):
        for route in ROUTES:
            for nasty in NASTY:
                session = quote(nasty, safe="")
                response = await route.call(client, gateway.url, bearer(), session=session)
                assert response.status_code == 404, (route.name, nasty)
        assert agent.connections == 0
        for session in sound:
            await RESUME.call(client, gateway.url, bearer(), session=session)

    assert [line.path for line in agent.lines] == [f"/api/sessions/{each}/ws" for each in sound]
    assert {line.headers["host"] for line in agent.lines} == {f"127.0.0.1:{agent.port}"}


@pytest.mark.parametrize("threads", ["shared", "chat"])
@pytest.mark.attack(
    "a chat id in the resume path that is a path, a header or a control character",
    "400 or a channel's name; it is in no URL",
)
async def test_a_chat_id_never_gets_into_a_url(threads: str) -> None:
    statuses = set()
    async with (
        ScriptedAgent(talkative) as agent,
        Gateway(agent.url(), given={"threads": threads}) as gateway,
        new_client() as client,
    ):
        for nasty in NASTY:
            for index in ({}, {"startIndex": "0"}):
                path = f"/api/sessions/s1/chat/{quote(nasty, safe='')}/stream"
                response = await client.get(gateway.url + path, headers=bearer(), params=index)
                statuses.add(response.status_code)
                assert "evil" not in str(response.headers)

    assert statuses <= {204, 400, 404}
    assert {line.path for line in agent.lines} == {"/api/sessions/s1/ws"}
    assert not any("evil" in str(line.headers) for line in agent.lines)


@pytest.mark.attack(
    "a channel, a thread or a chat's id with a line break, a quote or a whole frame in it",
    "400 for control characters; else it reaches the agent as one JSON string, unchanged",
)
@pytest.mark.parametrize("name", ["channelId", "channelType", "threadId"])
async def test_a_channel_is_one_string_of_one_frame(name: str) -> None:
    field = {"channelType": "channelType"}.get(name, "channelId")
    async with (
        ScriptedAgent(answer) as agent,
        Gateway(agent.url()) as gateway,
        new_client() as client,
    ):
        for nasty in NASTY:
            url = f"{gateway.url}/api/sessions/s1/chat"
            params = {name: nasty}
            before = agent.connections
            response = await client.post(url, json=ask(), headers=bearer(), params=params)
            if len(nasty) > 256 or any(ord(letter) < 32 for letter in nasty):
                assert response.status_code == 400
                assert agent.connections == before
            else:
                assert response.status_code == 200
                (prompt,) = agent.lines[-1].heard
                assert prompt[field] == nasty


@pytest.mark.attack(
    "a turn or question id with a line break, a quote or a whole frame in it",
    "it is one JSON string of one frame to the agent, and no header or URL",
)
@pytest.mark.parametrize(("route", "kind"), [("stop", "abort"), ("answer", "answer")])
async def test_an_id_in_a_body_is_one_string_of_one_frame(route: str, kind: str) -> None:
    fields = {"stop": "turnId", "answer": "questionId"}
    named = ""

    async def waits(line: Line) -> None:
        """An agent whose turn, or question, has that very id."""
        turn = named if route == "stop" else "turn-1"
        parts = [{"type": "question", "questionId": named, "text": "?"}]
        entry = {"id": turn, "role": "assistant", "parts": parts}
        at = {"runnerBusy": True, "runningTurnId": turn}
        await line.say({"type": "init", "session": {"messages": [entry]}, "data": at})
        await line.connection.wait_closed()

    async with (
        ScriptedAgent(waits) as agent,
        Gateway(agent.url(), given={"verdict_s": 0.02}) as gateway,
        new_client() as client,
    ):
        for count, nasty in enumerate(NASTY[:-1]):
            named = nasty
            body = {fields[route]: nasty, "answer": nasty}
            url = f"{gateway.url}/api/sessions/s1/{route}"
            response = await client.post(url, json=body, headers=bearer())
            assert response.status_code in {200, 202}, (nasty, response.text)
            (heard,) = await frames_to(await agent.line(count))
            assert (heard["type"], heard[fields[route]]) == (kind, nasty)

    assert {line.path for line in agent.lines} == {"/api/sessions/s1/ws"}
    assert len(agent.lines) == len(NASTY) - 1


HALF = ("\\ud800", "a\\udfff")


@pytest.mark.attack("an id that is half of a surrogate pair", "400")
@pytest.mark.parametrize("half", HALF)
async def test_half_a_character_is_no_id(half: str) -> None:
    sent = {
        "stop": f'{{"turnId":"{half}"}}',
        "answer": f'{{"questionId":"{half}","answer":1}}',
        "chat": json.dumps(ask()).replace("chat-1", half),
    }
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway, new_client() as client:
        for route, body in sent.items():
            for kind in ("application/json", "text/plain"):
                response = await client.post(
                    f"{gateway.url}/api/sessions/s1/{route}",
                    content=body,
                    headers={**bearer(), "content-type": kind},
                )
                assert response.status_code == 400, (route, response.text)
        assert agent.connections == 0


@pytest.mark.attack(
    "a user whose name in the token is a header, a line or half of a surrogate pair",
    "the agent gets it percent-encoded; half of a pair gets 401",
)
async def test_a_users_name_is_one_header() -> None:
    names = ["a\r\nx-evil: 1", "a\0b", "é\u2028", "a b@c|d", "%0d%0a", "\U0001f600"]

    async with (
        ScriptedAgent(answer) as agent,
        Gateway(agent.url(), given={"agent_auth": "none"}) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        for name in names:
            response = await client.post(url, json=ask(), headers=bearer(name))
            assert response.status_code == 200, name
        halved = await client.post(url, json=ask(), headers=bearer("a\ud800"))

    told: list[Any] = [line.headers["x-turnwire-user"] for line in agent.lines]
    assert [unquote(each) for each in told] == names
    assert all(each.isascii() and each.isprintable() for each in told)
    assert not any("x-evil" in line.headers for line in agent.lines)
    assert halved.status_code == 401


@pytest.mark.attack(
    "a request id that is a header, a line of a log or markup",
    "it is replaced; the agent and the client get the new one",
)
async def test_a_request_id_is_sound_or_replaced() -> None:
    async with ScriptedAgent(answer) as agent, Gateway(agent.url()) as gateway:
        for nasty in ("<script>", "a b", '{"a":1}', "a\xe9", "x" * 129, "", "a\tb"):
            async with new_client() as client:
                headers = httpx.Headers({**bearer(), "x-request-id": nasty}, encoding="latin-1")
                url = f"{gateway.url}/api/sessions/s1/chat"
                response = await client.post(url, json=ask(), headers=headers)
            told = response.headers["x-request-id"]
            assert told == agent.lines[-1].headers["x-request-id"]
            assert len(told) == 32
            assert told.isalnum()
