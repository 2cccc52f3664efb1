"""Stop, answer and history where the agent is not there, says no hello, or no verdict."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent, stay_silent
from gateway.clients import chatting, new_client
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until

pytestmark = pytest.mark.sockets

TURN = "turn-1"
QUESTION = {"type": "question", "questionId": "q1", "text": "Well?", "options": ["yes", "no"]}


async def call(
    gateway: Gateway, method: str, route: str, body: object = None, **params: str
) -> httpx.Response:
    url = f"{gateway.url}/api/sessions/s1/{route}"
    async with new_client() as client:
        return await client.request(method, url, json=body, params=params, headers=bearer())


async def stop(gateway: Gateway, turn_id: str | None = None, **params: str) -> httpx.Response:
    return await call(gateway, "POST", "stop", turn_id and {"turnId": turn_id}, **params)


async def answer(gateway: Gateway, given: object = "yes") -> httpx.Response:
    return await call(gateway, "POST", "answer", {"questionId": "q1", "answer": given})


def hello(*parts: Any, over: bool = False, **data: Any) -> Any:
    """An agent's hydration: one turn with these parts."""
    ended = [{"type": "finish", "reason": "end_turn"}] if over else []
    turn = {"id": TURN, "role": "assistant", "parts": [*parts, *ended]}
    running = {} if over else {"runnerBusy": True, "runningTurnId": TURN}
    return {"type": "init", "session": {"messages": [turn]}, "data": running | data}


ROUTES = [("POST", "stop"), ("POST", "answer"), ("GET", "messages"), ("GET", "chat/c/stream")]


@pytest.mark.parametrize(("method", "route"), ROUTES[:3])
async def test_an_agent_that_is_not_there_is_a_503(method: str, route: str) -> None:
    async with Gateway() as gateway:
        response = await call(gateway, method, route, {"questionId": "q1", "answer": 1})

    assert response.status_code == 503
    assert "retry-after" in response.headers
    assert response.json()["code"] == "unavailable"


@pytest.mark.parametrize(("method", "route"), ROUTES)
@pytest.mark.parametrize(
    ("handshake", "auth", "status"),
    [(401, "forward", 401), (404, "forward", 404), (404, "none", 503), (503, "forward", 503)],
)
async def test_a_handshake_that_is_refused(
    method: str, route: str, handshake: int, auth: str, status: int
) -> None:
    async with (
        ScriptedAgent(status=handshake) as agent,
        Gateway(agent.url(), agent_auth=auth) as gateway,
    ):
        response = await call(gateway, method, route, {"questionId": "q1", "answer": 1})

    if route.startswith("chat") and handshake == 503:
        assert response.status_code == 200, "a stream tells it itself"
        assert "Connection failed" in response.text
    else:
        assert response.status_code == status


async def test_an_agent_without_a_hello() -> None:
    async with (
        ScriptedAgent(stay_silent) as agent,
        Gateway(agent.url(), dial_s=1.5, verdict_s=0.3, idle_s=0.1) as gateway,
    ):
        resumed = await call(gateway, "GET", "chat/c/stream")
        assert (resumed.status_code, resumed.content) == (204, b"")
        history = await call(gateway, "GET", "messages")
        assert (history.status_code, history.json()["code"]) == (501, "not_supported")
        assert (await stop(gateway)).status_code == 501
        assert not any(line.aborts for line in agent.lines)
        forwarded = await stop(gateway, TURN)
        assert forwarded.json()["reason"] == "no_verdict"
        assert forwarded.json()["waitedMs"] >= 600, "first for a hello, then for the verdict"
        assert [abort["turnId"] for abort in agent.lines[-1].aborts] == [TURN]
        assert (await answer(gateway)).status_code == 202
        assert agent.lines[-1].of_type("answer") == [
            {"type": "answer", "questionId": "q1", "answer": "yes"}
        ]


async def test_a_stop_waits_for_the_verdict_and_says_it() -> None:
    async def obey(line: Line) -> None:
        await line.say(hello())
        await until(lambda: line.aborts or line.closed)
        await line.say(frames.finalize(turn="other"), frames.finalize(reason="canceled"))

    async with ScriptedAgent(obey) as agent, Gateway(agent.url()) as gateway:
        receipt = (await stop(gateway)).json()

    assert receipt.pop("waitedMs") >= 0
    assert receipt == {"stopped": True, "turnId": TURN, "reason": "canceled"}


async def test_a_stop_without_a_verdict_says_so() -> None:
    async def ignore(line: Line) -> None:
        await line.say(hello())

    async with ScriptedAgent(ignore) as agent, Gateway(agent.url(), verdict_s=0.2) as gateway:
        receipt = (await stop(gateway)).json()

    assert (receipt["stopped"], receipt["reason"]) == (False, "no_verdict")
    assert receipt["waitedMs"] >= 200


async def test_a_stop_of_another_turn_than_the_one_that_runs_is_a_conflict() -> None:
    async def greet(line: Line) -> None:
        await line.say(hello())

    async with ScriptedAgent(greet) as agent, Gateway(agent.url()) as gateway:
        response = await stop(gateway, "turn-0")

        assert (response.status_code, response.json()["code"]) == (409, "another_turn")
        assert not any(line.aborts for line in agent.lines)


async def test_what_runs_on_another_channel_is_not_stopped_unless_it_is_named() -> None:
    async def greet(line: Line) -> None:
        await line.say(hello())
        await until(lambda: line.aborts or line.closed)
        await line.say(frames.finalize(reason="canceled"))

    async with ScriptedAgent(greet) as agent, Gateway(agent.url()) as gateway:
        assert (await stop(gateway, threadId="t9")).json()["reason"] == "idle"
        assert not any(line.aborts for line in agent.lines)
        assert (await stop(gateway, TURN, threadId="t9")).json()["stopped"] is True


@pytest.mark.parametrize(
    ("said", "status"),
    [
        pytest.param({"answer": "yes"}, 202, id="ours"),
        pytest.param({"answer": "no"}, 409, id="somebody else was first"),
        pytest.param({}, 202, id="not said whose"),
    ],
)
async def test_an_answer_waits_for_what_the_agent_says(said: Any, status: int) -> None:
    async def ask(line: Line) -> None:
        await line.say(hello(QUESTION))
        await until(lambda: line.of_type("answer") or line.closed)
        await line.say({"type": "question.resolved", "questionId": "q0"})
        await line.say({"type": "question.resolved", "questionId": "q1", **said})

    async with ScriptedAgent(ask) as agent, Gateway(agent.url()) as gateway:
        assert (await answer(gateway)).status_code == status


@pytest.mark.parametrize(
    "init",
    [
        pytest.param(hello({**QUESTION, "answer": "no"}), id="answered"),
        pytest.param(hello({**QUESTION, "expired": True}), id="expired"),
        pytest.param(hello(QUESTION, over=True), id="its turn is over"),
    ],
)
async def test_a_closed_question_is_a_conflict_and_nothing_is_sent(init: Any) -> None:
    async def greet(line: Line) -> None:
        await line.say(init)

    async with ScriptedAgent(greet) as agent, Gateway(agent.url()) as gateway:
        response = await answer(gateway)

        assert (response.status_code, response.json()["code"]) == (409, "question_closed")
        assert not any(line.of_type("answer") for line in agent.lines)


async def test_a_question_that_expires_before_the_answer_comes() -> None:
    async def expire(line: Line) -> None:
        await line.say(hello(QUESTION), {"type": "question.expired", "questionId": "q1"})

    async with ScriptedAgent(expire) as agent, Gateway(agent.url()) as gateway:
        assert (await answer(gateway)).status_code == 409


async def test_how_a_turn_ended_is_in_the_history_of_who_asks_for_it() -> None:
    said = {"type": "text", "text": "a"}
    why = {"type": "error", "message": "No"}

    async def greet(line: Line) -> None:
        await line.say(hello(said, why, {"type": "finish", "reason": "error"}))

    async with ScriptedAgent(greet) as agent, Gateway(agent.url()) as gateway:
        plain = await call(gateway, "GET", "messages")
        no = await call(gateway, "GET", "messages", finish="false")
        told = await call(gateway, "GET", "messages", finish="true")

    whole = (
        b'[{"id":"turn-1","role":"assistant","parts":'
        b'[{"type":"step-start"},{"type":"text","text":"a","state":"done"}]}]'
    )
    assert plain.content == no.content == whole
    ended = b',"metadata":{"finish":{"reason":"error","errorText":"No"}}}]'
    assert told.content == whole.removesuffix(b"}]") + ended


@pytest.mark.parametrize("limit", ["0", "99999", "-1", "ten"])
async def test_a_limit_that_is_none_is_refused_with_the_most(limit: str) -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        refused = await call(gateway, "GET", "messages", limit=limit)

        assert refused.status_code == 400
        assert refused.json()["error"] == "limit is a number from 1 to 500"
        assert agent.lines == []


async def test_a_history_may_have_as_many_messages_as_the_document_says() -> None:
    async def greet(line: Line) -> None:
        await line.say(hello(over=True))

    async with ScriptedAgent(greet) as agent, Gateway(agent.url()) as gateway:
        async with new_client() as client:
            document = (await client.get(f"{gateway.url}/openapi.json")).json()
        path = document["paths"]["/api/sessions/{session_id}/messages"]
        (limit,) = (each for each in path["get"]["parameters"] if each["name"] == "limit")
        response = await call(gateway, "GET", "messages", limit=str(limit["schema"]["maximum"]))

    assert response.status_code == 200


@pytest.mark.parametrize(("route", "status"), [("stop", 200), ("answer", 503), ("messages", 503)])
async def test_an_agent_that_leaves(route: str, status: int) -> None:
    async def leave(line: Line) -> None:
        if route != "messages":
            await line.say(hello(QUESTION))
            await until(lambda: line.heard or line.closed)
        line.cut()

    async with ScriptedAgent(leave) as agent, Gateway(agent.url()) as gateway:
        method = "GET" if route == "messages" else "POST"
        body = {"questionId": "q1", "answer": "yes"} if route == "answer" else None
        response = await call(gateway, method, route, body)

    assert response.status_code == status
    if route == "stop":
        assert response.json()["reason"] == "no_verdict"


async def test_the_users_token_goes_along_and_no_prompt() -> None:
    async def greet(line: Line) -> None:
        await line.say(hello())

    async with ScriptedAgent(greet) as agent, Gateway(agent.url()) as gateway:
        await call(gateway, "GET", "messages")
        line = await agent.line()

        assert line.headers["authorization"].startswith("Bearer ")
        assert line.heard == []


async def test_a_body_need_not_be_declared_where_there_is_none() -> None:
    async def greet(line: Line) -> None:
        await line.say(hello(over=True))

    async with ScriptedAgent(greet) as agent, Gateway(agent.url()) as gateway:
        url = f"{gateway.url}/api/sessions/s1/stop"
        async with new_client() as client:
            response = await client.post(url, headers=bearer())

    assert response.status_code == 200
    assert json.loads(response.content)["reason"] == "idle"


@pytest.mark.parametrize(
    "given",
    [b'"\xff"', b"1e999", b"[" * 33 + b"]" * 33],
    ids=["no UTF-8", "no number", "deeper than a history may hold"],
)
async def test_an_answer_that_an_agent_could_not_keep_is_not_passed_on(given: bytes) -> None:
    async def greet(line: Line) -> None:
        await line.say(hello(QUESTION))

    async with ScriptedAgent(greet) as agent, Gateway(agent.url()) as gateway:
        headers = bearer() | {"content-type": "application/json"}
        body = b'{"questionId":"q1","answer":%b}' % given
        async with new_client() as client:
            url = f"{gateway.url}/api/sessions/s1/answer"
            response = await client.post(url, content=body, headers=headers)

        assert response.status_code == 400
        assert agent.connections == 0


async def test_errands_have_limits_of_their_own() -> None:
    """Each opens a connection to the agent, and a stop must get through beside all streams."""
    async with (
        ScriptedAgent(stay_silent) as agent,
        Gateway(agent.url(), max_streams_per_user=1, max_streams=2, dial_s=2) as gateway,
        asyncio.TaskGroup() as group,
    ):
        waiting = group.create_task(call(gateway, "GET", "messages"))
        await until(lambda: agent.connections == 1)
        refused = await call(gateway, "GET", "messages")
        waiting.cancel()

    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_streams")
    assert agent.connections == 1


async def test_a_stop_gets_through_where_its_user_has_as_many_streams_as_may_be() -> None:
    async def run(line: Line) -> None:
        await line.say(hello())
        await until(lambda: line.heard or line.closed)
        if line.aborts:
            await line.say(frames.finalize(reason="canceled"))
        else:
            await line.begin("mine")

    async with (
        ScriptedAgent(run) as agent,
        Gateway(agent.url(), max_streams_per_user=1, idle_s=30) as gateway,
        chatting(gateway),
    ):
        await until(lambda: agent.connections == 1)

        assert (await stop(gateway, TURN)).json()["stopped"] is True
