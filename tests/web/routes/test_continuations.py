"""Approvals and answers that come back with the message: who may, once, and in time."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

import httpx
import pytest

from gateway.agent import ScriptedAgent, stay_silent
from gateway.clients import Json, ask, chatting, chunks, new_client, outline, said
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.core.approvals import Signer
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

KEY: Final = "a key that signs approvals and nothing else"
NEXT_KEY: Final = "another key of thirty-two bytes or more"
NATIVE: Final = {"x-turnwire-profile": "6"}
CLOSED: Final = ("question_closed", "The question is not open any more")
NOT_YOURS: Final = ("bad_request", "The approval is not one that you were asked for here")


class Talk(NamedTuple):
    agent: ReferenceAgent
    gateway: Gateway
    client: httpx.AsyncClient

    async def post(
        self,
        body: Json,
        *,
        session: str = "s1",
        user: str = "u1",
        headers: Mapping[str, str] = NATIVE,
        **params: str,
    ) -> httpx.Response:
        url = f"{self.gateway.url}/api/sessions/{session}/chat"
        sent = {**bearer(user), **headers}
        return await self.client.post(url, json=body, headers=sent, params=params)

    async def resume(self, headers: Mapping[str, str] = NATIVE) -> httpx.Response:
        url = f"{self.gateway.url}/api/sessions/s1/chat/chat-1/stream"
        return await self.client.get(url, headers={**bearer(), **headers})

    @property
    def answers(self) -> list[Any]:
        return [frame["answer"] for frame in self.agent.received if frame["type"] == "answer"]


@asynccontextmanager
async def talk(habits: Habits | None = None, **settings: object) -> AsyncIterator[Talk]:
    async with (
        ReferenceAgent(habits or Habits()) as agent,
        Gateway(agent.url, given={"signing_keys": KEY, **settings}) as gateway,
        new_client() as client,
    ):
        yield Talk(agent, gateway, client)


def responded(body: str, **approval: Any) -> Json:
    """What a client sends once its user responded to every request of a stream."""
    told = chunks(body)
    start = next(chunk for chunk in told if chunk["type"] == "start")
    requests = {c["toolCallId"]: c for c in told if c["type"] == "tool-approval-request"}
    parts: list[Json] = [{"type": "step-start"}]
    for request in requests.values():
        given = {"id": request["approvalId"], "approved": True} | approval
        parts.append(
            {
                "type": "tool-calculator",
                "toolCallId": request["toolCallId"],
                "state": "approval-responded",
                "input": {},
                "providerExecuted": True,
                "approval": given,
            }
        )
    return answered(*parts, message_id=start["messageId"])


def answered(*parts: Json, message_id: str = "m2") -> Json:
    message = {"id": message_id, "role": "assistant", "parts": parts}
    return {
        "id": "chat-1",
        "trigger": "submit-message",
        "messageId": message_id,
        "message": message,
    }


def refusal(response: httpx.Response) -> tuple[int, str, str]:
    told = response.json()
    return response.status_code, told["code"], told["error"]


async def test_an_approved_turn_goes_on_in_its_message() -> None:
    async with talk() as t:
        asked = await t.post(ask("approve 12*7"))
        assert outline(asked.text)[-3:] == ["tool-approval-request", "finish-step", "finish"]

        response = await t.post(responded(asked.text))

        assert response.headers["content-type"].startswith("text/event-stream")
        start = next(c for c in chunks(response.text) if c["type"] == "start")
        assert start["messageId"] == responded(asked.text)["messageId"]
        assert said(response.text) == "12*7 is **84**.\n"
        assert t.answers == [True]
        await t.gateway.has_ended("asked")
        await t.gateway.has_ended("completed")
        assert t.agent.journal.runs[0].aborted is False


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ({"approved": False}, False),
        ({"approved": False, "reason": "Not now"}, {"approved": False, "reason": "Not now"}),
        ({"approved": True, "reason": "Fine"}, {"approved": True, "reason": "Fine"}),
    ],
)
async def test_a_response_is_forwarded_with_its_reason(response: Json, answer: object) -> None:
    async with talk() as t:
        asked = await t.post(ask("approve 12*7"))
        told = await t.post(responded(asked.text, **response))

    assert t.answers == [answer]
    assert ("**84**" in said(told.text)) is response["approved"]


@pytest.mark.attack("an approval that is sent twice", "it counts once")
async def test_an_approval_counts_once() -> None:
    async with talk() as t:
        body = responded((await t.post(ask("approve 12*7"))).text)
        await t.post(body)

        assert refusal(await t.post(body)) == (409, *CLOSED)
        assert t.answers == [True]


async def test_the_same_response_twice_in_one_message_counts_once() -> None:
    async with talk() as t:
        body = responded((await t.post(ask("approve 12*7"))).text)
        step, card = body["message"]["parts"]
        body["message"]["parts"] = [step, card, card]

        assert (await t.post(body)).status_code == 200
        assert t.answers == [True]


@pytest.mark.parametrize(("user", "session"), [("u2", "s1"), ("u1", "s2")])
@pytest.mark.attack("an approval of another user or session", "400; the agent gets nothing")
async def test_a_foreign_approval_reaches_no_agent(user: str, session: str) -> None:
    async with talk() as t:
        body = responded((await t.post(ask("approve 12*7"))).text)

        assert refusal(await t.post(body, user=user, session=session)) == (400, *NOT_YOURS)
        assert t.answers == []


@pytest.mark.parametrize("approval_id", ["ap1", "x" * 86, "é"])
@pytest.mark.attack("a forged approval", "400 before any dial")
async def test_a_forged_approval_is_refused_before_the_agent_is_dialled(approval_id: str) -> None:
    async with ScriptedAgent(stay_silent) as agent, Gateway(agent.url()) as gateway:
        part = {"type": "tool-x", "state": "approval-responded"}
        given = answered(part | {"approval": {"id": approval_id, "approved": True}})
        async with new_client() as client:
            url = f"{gateway.url}/api/sessions/s1/chat"
            response = await client.post(url, json=given, headers=bearer())

        assert refusal(response) == (400, *NOT_YOURS)
        assert agent.requests == []


@pytest.mark.attack("an approval kept for later", "409 when its time is over")
async def test_an_approval_that_expired_is_refused_before_the_agent_is_dialled() -> None:
    async with ScriptedAgent(stay_silent) as agent:
        async with Gateway(agent.url(), signing_keys=KEY) as gateway, new_client() as client:
            signer = Signer(keys=[KEY.encode()], session_id="s1", user_id="u1")
            old = {"id": signer.sign("q1", b"s" * 16, 1_700_000_000), "approved": True}
            part = {"type": "tool-x", "state": "approval-responded", "approval": old}
            url = f"{gateway.url}/api/sessions/s1/chat"
            response = await client.post(url, json=answered(part), headers=bearer())

        assert refusal(response) == (409, *CLOSED)
        assert agent.requests == []


async def test_another_process_with_the_key_takes_it_and_keys_are_rotated() -> None:
    async with talk() as t:
        body = responded((await t.post(ask("approve 12*7"))).text)
        given = {"signing_keys": f"{NEXT_KEY},{KEY}"}
        async with Gateway(t.agent.url, given=given) as gateway, new_client() as client:
            renewed = t._replace(gateway=gateway, client=client)
            assert said((await renewed.post(body)).text) == "12*7 is **84**.\n"
            newer = await renewed.post(ask("approve 12*7"))

        assert refusal(await t.post(responded(newer.text))) == (400, *NOT_YOURS)


async def test_a_turn_that_is_stopped_meanwhile_takes_no_approval() -> None:
    async with talk() as t:
        body = responded((await t.post(ask("approve 12*7"))).text)
        url = f"{t.gateway.url}/api/sessions/s1/stop"
        assert (await t.client.post(url, headers=bearer())).json()["stopped"] is True

        assert refusal(await t.post(body)) == (409, *CLOSED)


async def test_a_page_that_is_loaded_again_is_asked_again_and_may_answer() -> None:
    async with talk() as t:
        await t.post(ask("approve 12*7"))

        resumed = await t.resume()
        assert outline(resumed.text)[-3:] == ["tool-approval-request", "finish-step", "finish"]

        assert said((await t.post(responded(resumed.text))).text) == "12*7 is **84**.\n"
        assert (await t.resume()).status_code == 204


async def test_a_client_that_stops_the_approved_turn_aborts_it() -> None:
    async with talk(Habits(pace_s=0.05)) as t:
        body = responded((await t.post(ask("approve 12*7"))).text)
        url = f"{t.gateway.url}/api/sessions/s1/chat"
        async with t.client.stream("POST", url, json=body, headers=bearer()) as response:
            async for _ in response.aiter_raw():
                break

        await until(lambda: t.agent.journal.runs[0].aborted)
        await t.gateway.has_ended("client_gone")


async def test_two_open_approvals_are_both_requested() -> None:
    async with talk() as t:
        asked = await t.post(ask("approve two things"))
        assert outline(asked.text).count("tool-approval-request") == 2

        response = await t.post(responded(asked.text))
        assert said(response.text) == "6*7 is **42**.\n7*8 is **56**.\n"


async def test_a_question_that_is_no_approval_keeps_the_stream_open() -> None:
    async with talk(Habits(question_s=0.2)) as t:
        response = await t.post(ask("ask me: tea or coffee?"))

    assert outline(response.text).count("data-question") == 2
    assert "tool-approval-request" not in outline(response.text)
    assert said(response.text).endswith("in time.\n")


async def test_an_answer_in_the_message_is_forwarded_in_the_portable_profile() -> None:
    async with talk(on_disconnect="continue") as t:
        async with chatting(t.gateway, text="ask me: tea or coffee?") as chat:
            await chat.sees("data-question")
        question = next(c for c in chunks(chat.body) if c["type"] == "data-question")
        question["data"] |= {"state": "answered", "answer": "tea"}

        response = await t.post(answered(question), headers={})

    assert [c["data"]["state"] for c in chunks(response.text) if c["type"] == "data-question"] == [
        "resolved"
    ]
    assert said(response.text).endswith("you said **tea**.\n")
    assert t.answers == ["tea"]


async def test_an_agent_that_says_no_hello_cannot_be_continued() -> None:
    async with talk(Habits(init=False), dial_s=1.5) as t:
        body = responded((await t.post(ask("approve 12*7"))).text)

        assert refusal(await t.post(body)) == (501, "not_supported", "Not supported by this agent")
        assert t.answers == []


async def test_the_answer_is_looked_for_on_the_channel_of_the_request() -> None:
    async with talk() as t:
        asked = await t.post(ask("approve 12*7"), channelId="c2")
        body = responded(asked.text)

        assert refusal(await t.post(body)) == (409, *CLOSED)
        assert (await t.post(body, channelId="c2")).status_code == 200


@pytest.mark.parametrize(
    ("headers", "params"),
    [
        ({"x-turnwire-profile": "5"}, {}),
        ({"x-turnwire-profile": ""}, {}),
        ({"x-turnwire-profile": "6, 7"}, {}),
        ({"x-turnwire-profile": "portable"}, {}),
        ({}, {"profile": "8"}),
        ({"x-turnwire-profile": "6"}, {"profile": "7"}),
    ],
)
async def test_a_profile_is_6_or_7(headers: dict[str, str], params: dict[str, str]) -> None:
    async with talk() as t:
        response = await t.post(ask(), headers=headers, **params)

        assert refusal(response) == (400, "bad_request", "The profile is 6, 7 or 7.1")
        assert t.agent.received == []


@pytest.mark.parametrize(
    ("headers", "params"),
    [({"x-turnwire-profile": "7"}, {}), ({}, {"profile": "6"}), (NATIVE, {"profile": "6"})],
)
async def test_a_profile_is_asked_for_by_header_or_in_the_url(
    headers: dict[str, str], params: dict[str, str]
) -> None:
    async with talk() as t:
        asked = await t.post(ask("approve 12*7"), headers=headers, **params)

    assert "tool-approval-request" in outline(asked.text)


@pytest.mark.parametrize("route", ["prompt", "continuation", "resume"])
async def test_without_keys_there_is_no_profile(route: str) -> None:
    async with talk(signing_keys="") as t:
        question = {"state": "answered", "answer": "tea", "questionId": "q1"}
        part = {"type": "data-question", "id": "q1", "data": question}
        bodies = {"prompt": ask(), "continuation": answered(part)}
        response = await (t.resume() if route == "resume" else t.post(bodies[route]))

    told = "This gateway offers no profile: it has no keys to sign approvals with"
    assert refusal(response) == (400, "bad_request", told)


async def test_a_message_with_nothing_new_is_refused() -> None:
    async with talk() as t:
        asked = await t.post(ask("what is 1+2?"))
        parts = [c for c in chunks(asked.text) if c["type"] == "tool-output-available"]
        ours = [{**p, "type": "tool-calculator", "state": "output-available"} for p in parts]

        response = await t.post(answered(*ours))

    assert refusal(response) == (400, "bad_request", "Nothing to forward")
