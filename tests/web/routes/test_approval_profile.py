"""An approval is answered with the id that it was asked with, by whichever door."""

import time
from typing import Any, Final

import httpx
import pytest

from gateway.agent import Line, ScriptedAgent, stay_silent
from gateway.clients import Chat, Json, ask, chatting, chunks, new_client
from gateway.reading import App
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.core.approvals import Signer
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

KEY: Final = "a key that signs approvals and nothing else"
NOT_YOURS: Final = (400, "bad_request", "The approval is not one that you were asked for here")
UNSIGNED: Final = (400, "bad_request", "This is an approval: it is answered with its approvalId")
CLOSED: Final = (409, "question_closed", "The question is not open any more")
UNKNOWN: Final = (404, "not_found", "Not found")
TAKEN: Final = (202, None, None)

APPROVAL: Final = {
    "type": "question",
    "questionId": "q1",
    "text": "May it delete everything?",
    "kind": "approval",
    "callId": "c1",
    "toolName": "delete",
    "args": {"all": True},
}


def behind(agent: ReferenceAgent, **given: Any) -> Gateway:
    return Gateway(agent.url, given={"signing_keys": KEY, "on_disconnect": "continue", **given})


async def asked(gateway: Gateway, text: str = "approve 12*7", user: str = "ann") -> Json:
    """Leave a turn with its question open; returns the question's part."""
    async with chatting(gateway, user=user, text=text) as chat:
        return await card(chat)


async def card(chat: Chat) -> Json:
    await chat.sees('"state":"open"')
    return next(c for c in chunks(chat.body) if c["type"] == "data-question")


async def seen_by(gateway: Gateway, user: str) -> Json:
    """The card in the stream of another collaborator."""
    async with App(gateway, user=user).resume() as chat:
        return await card(chat)


async def post(gateway: Gateway, user: str, route: str, body: Json) -> httpx.Response:
    async with new_client() as client:
        url = f"{gateway.url}/api/sessions/s1/{route}"
        return await client.post(url, json=body, headers=bearer(user))


def verdict_of(response: httpx.Response) -> tuple[int, str | None, str | None]:
    if response.status_code == 202 or response.headers["content-type"] != "application/json":
        return response.status_code, None, None
    body = response.json()
    return response.status_code, body["code"], body["error"]


async def answer(gateway: Gateway, user: str, **body: Any) -> tuple[int, str | None, str | None]:
    """By the first door."""
    return verdict_of(await post(gateway, user, "answer", {"answer": True, **body}))


async def send_back(
    gateway: Gateway, user: str, part: Json, **data: Any
) -> tuple[int, str | None, str | None]:
    """By the second one: the message comes back with an answer in it."""
    answered = {**part, "data": {**part["data"], "state": "answered", "answer": True, **data}}
    message = {"id": "m1", "role": "assistant", "parts": [{"type": "step-start"}, answered]}
    return verdict_of(await post(gateway, user, "chat", {"id": "chat-1", "message": message}))


def answers(agent: ReferenceAgent) -> list[object]:
    return [frame["answer"] for frame in agent.received if frame["type"] == "answer"]


async def test_the_app_sends_the_id_back_with_the_answer() -> None:
    async with ReferenceAgent() as agent, behind(agent) as gateway:
        data = (await asked(gateway))["data"]

        assert (
            await answer(
                gateway, "ann", questionId=data["questionId"], approvalId=data["approvalId"]
            )
            == TAKEN
        )
        await gateway.has_ended("client_gone")
        assert answers(agent) == [True]


async def test_the_app_sends_the_id_back_with_the_message() -> None:
    async with ReferenceAgent() as agent, behind(agent) as gateway:
        part = await asked(gateway)

        assert await send_back(gateway, "ann", part) == (200, None, None)
        assert answers(agent) == [True]


@pytest.mark.attack(
    "an approval, answered by `POST …/answer` or in the message, without the id it was asked with",
    "400; the agent gets nothing",
)
async def test_an_approval_takes_no_answer_without_its_id() -> None:
    async with ReferenceAgent() as agent, behind(agent, answers="collaborators") as gateway:
        part = await asked(gateway)
        question_id = part["data"]["questionId"]

        for user in ("ann", "bob"):
            assert await answer(gateway, user, questionId=question_id) == UNSIGNED
            assert await answer(gateway, user, questionId=question_id, approvalId=None) == UNSIGNED
            assert await send_back(gateway, user, part, approvalId=None) == UNSIGNED
        assert answers(agent) == []
        await App(gateway, user="ann").stop()


@pytest.mark.attack(
    "the id of another user's approval, of another question, of another session, or an id that "
    "the gateway did not issue",
    "400, before the agent is dialled, on each route",
)
async def test_an_id_is_good_for_its_user_question_and_session() -> None:
    async with ReferenceAgent() as agent, behind(agent, answers="collaborators") as gateway:
        part = await asked(gateway)
        question_id, its_id = part["data"]["questionId"], part["data"]["approvalId"]
        sockets = agent.connections

        for user, question, given in (
            ("bob", question_id, its_id),
            ("ann", "another", its_id),
            ("ann", question_id, its_id[:-2]),
            ("ann", question_id, "x" * 2_000),
        ):
            body = {"questionId": question, "approvalId": given}
            assert await answer(gateway, user, **body) == NOT_YOURS
            other = {**part, "id": question}
            assert await send_back(gateway, user, other, approvalId=given) == NOT_YOURS
        assert agent.connections == sockets
        assert answers(agent) == []
        await App(gateway, user="ann").stop()


async def test_another_collaborator_has_an_id_of_their_own() -> None:
    async with ReferenceAgent() as agent, behind(agent, answers="collaborators") as gateway:
        anns = await asked(gateway)
        bobs = await seen_by(gateway, "bob")
        assert anns["data"]["approvalId"] != bobs["data"]["approvalId"]

        assert await send_back(gateway, "bob", bobs) == (200, None, None)
        assert await send_back(gateway, "ann", anns) == CLOSED
        assert answers(agent) == [True]


@pytest.mark.attack(
    "an approval or a question of another user's turn, that a collaborator answers",
    "the same error as for one that does not exist; the agent gets nothing "
    "(`TURNWIRE_ANSWERS=asker`)",
)
@pytest.mark.parametrize("text", ["approve 12*7", "ask me: tea or coffee?"])
async def test_who_asked_is_who_answers(text: str) -> None:
    async with ReferenceAgent() as agent, behind(agent) as gateway:
        anns = await asked(gateway, text)
        bobs = await seen_by(gateway, "bob")
        data = bobs["data"]
        its_id = {"approvalId": data["approvalId"]} if "approvalId" in data else {}

        assert await answer(gateway, "bob", questionId=data["questionId"], **its_id) == UNKNOWN
        assert await send_back(gateway, "bob", bobs) == CLOSED
        assert answers(agent) == []
        assert await send_back(gateway, "ann", anns) == (200, None, None)


async def test_their_other_device_answers_as_well() -> None:
    async with ReferenceAgent() as agent, behind(agent) as gateway:
        await asked(gateway)
        elsewhere = await seen_by(gateway, "ann")

        assert await send_back(gateway, "ann", elsewhere) == (200, None, None)
        assert answers(agent) == [True]


async def test_where_nobody_says_who_asked_every_collaborator_answers() -> None:
    """Such an agent leaves it open who may."""
    async with (
        ScriptedAgent(hydrate(APPROVAL)) as agent,
        Gateway(agent.url(), signing_keys=KEY) as gateway,
    ):
        bobs = await seen_by(gateway, "bob")
        its_id = bobs["data"]["approvalId"]

        assert await answer(gateway, "bob", questionId="q1", approvalId=its_id) == TAKEN
        assert received(agent) == [True]


async def test_an_id_is_good_for_what_was_shown_alone() -> None:
    async with (
        ScriptedAgent(hydrate(APPROVAL)) as agent,
        Gateway(agent.url(), signing_keys=KEY) as gateway,
    ):
        its_id = (await seen_by(gateway, "ann"))["data"]["approvalId"]
        agent.script = hydrate({**APPROVAL, "args": {"all": False}})

        assert await answer(gateway, "ann", questionId="q1", approvalId=its_id) == CLOSED
        assert received(agent) == []


@pytest.mark.parametrize("extra", [{}, {"channelType": "web", "turnId": "t1"}])
async def test_an_approval_that_names_no_call_is_signed_for_what_it_shows(extra: Json) -> None:
    nameless = {k: v for k, v in APPROVAL.items() if k != "callId"}
    async with (
        ScriptedAgent(hydrate(nameless)) as agent,
        Gateway(agent.url(), signing_keys=KEY) as gateway,
    ):
        its_id = (await seen_by(gateway, "ann"))["data"]["approvalId"]
        assert await answer(gateway, "ann", questionId="q1") == UNSIGNED

        agent.script = hydrate({**nameless, "text": "May it delete one file?"})
        assert await answer(gateway, "ann", questionId="q1", approvalId=its_id) == CLOSED
        agent.script = hydrate({**nameless, **extra, "expiresAt": 7})
        assert await answer(gateway, "ann", questionId="q1", approvalId=its_id) == TAKEN


async def test_an_id_that_the_agent_made_up_never_reaches_the_client() -> None:
    about = {"type": "question", "questionId": "q1", "text": "Tea?", "approvalId": "mine"}
    async with (
        ScriptedAgent(hydrate(about)) as agent,
        Gateway(agent.url(), signing_keys=KEY) as gateway,
    ):
        part = await seen_by(gateway, "ann")

        assert "approvalId" not in part["data"]
        assert await answer(gateway, "ann", questionId="q1", answer="yes") == TAKEN


async def test_without_keys_an_approval_is_a_question_like_any_other() -> None:
    about = {**APPROVAL, "approvalId": "the agent's own"}
    async with ScriptedAgent(hydrate(about)) as agent, Gateway(agent.url()) as gateway:
        part = await seen_by(gateway, "ann")

        assert part["data"]["approvalId"] == "the agent's own"
        body = {"questionId": "q1", "approvalId": part["data"]["approvalId"]}
        assert await answer(gateway, "ann", **body) == TAKEN


async def test_what_no_hello_tells_of_is_not_answered_where_approvals_are_signed() -> None:
    async with (
        ScriptedAgent(stay_silent) as agent,
        Gateway(agent.url(), signing_keys=KEY, dial_s=0.3) as gateway,
    ):
        assert (await answer(gateway, "ann", questionId="q1"))[0] == 501
        assert received(agent) == []


async def test_an_id_whose_time_is_over_is_closed_before_any_dial() -> None:
    signer = Signer(keys=(KEY.encode(),), session_id="s1", user_id="ann")
    its_id = signer.sign("q1", b"what was shown", time.time() - 1)
    async with (
        ScriptedAgent(stay_silent) as agent,
        Gateway(agent.url(), signing_keys=KEY) as gateway,
    ):
        assert await answer(gateway, "ann", questionId="q1", approvalId=its_id) == CLOSED
        assert agent.connections == 0


async def test_a_workflow_client_has_its_id_too() -> None:
    async with ReferenceAgent() as agent, behind(agent) as gateway:
        url = f"{gateway.url}/api/sessions/s1/chat"
        headers = {**bearer("ann"), "content-type": "text/plain"}
        async with (
            new_client() as client,
            client.stream("POST", url, json=ask("approve 12*7"), headers=headers) as response,
        ):
            chat = Chat(response)
            data = (await card(chat))["data"]
            body = {"questionId": data["questionId"], "approvalId": data["approvalId"]}
            assert await answer(gateway, "ann", **body) == TAKEN
            await chat.end()
        assert answers(agent) == [True]


def hydrate(question: Json) -> Any:
    """Say in `init` that this question waits, and take its answer."""

    async def script(line: Line) -> None:
        call = {
            "type": "tool-call",
            "callId": "c1",
            "toolName": "delete",
            "args": question.get("args", {}),
            "status": "running",
        }
        turn = {"id": "t1", "role": "assistant", "parts": [call, question]}
        session = {"id": "s1", "messages": [turn]}
        await line.say({"type": "init", "data": {"runningTurnId": "t1"}, "session": session})
        await until(lambda: line.closed or line.of_type("answer"))
        if given := line.of_type("answer"):
            await line.say(
                {"type": "question.resolved", **given[0], "turnId": "t1"}
                | {"type": "question.resolved"}
            )

    return script


def received(agent: ScriptedAgent) -> list[object]:
    return [frame["answer"] for line in agent.lines for frame in line.of_type("answer")]
