"""Resume, stop and answer for an agent that keeps nothing: the turn log has its turns."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from gateway.asking_agent import AskingAgent, call, gateway_of, prompting, resuming
from gateway.clients import errors, get, is_whole, outline, post, said
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from support.asking_dialect import Asking, Asks, Begun, Over, Text, Waits
from support.framed_transport import FramedTransport
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.testing.client_model import read

pytestmark = pytest.mark.sockets


@pytest.fixture(autouse=True)
def in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, Asking.name, Asking())
    monkeypatch.setitem(TRANSPORTS, FramedTransport.name, FramedTransport)


@pytest.fixture
async def agent() -> AsyncIterator[AskingAgent]:
    async with AskingAgent() as agent:
        yield agent


@pytest.fixture
async def gateway(agent: AskingAgent) -> AsyncIterator[Gateway]:
    async with gateway_of(agent) as gateway:
        yield gateway


STREAM = "chat/chat-1/stream"
BEGUN = (Begun("t1"), Text("Hello"))
END = (Text(" world"), Over())


async def test_a_reader_gets_the_turn_from_its_start_to_its_end(
    agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        async with resuming(gateway) as reader, resuming(gateway) as other:
            await reader.sees("Hello")
            await other.sees("Hello")
            await run.say(*END)
            bodies = [await each.end() for each in (prompt, reader, other)]

        assert reader.response.headers["content-type"] == prompt.response.headers["content-type"]
        assert reader.response.headers["x-vercel-ai-ui-message-stream"] == "v1"
        assert "x-turnwire-resume" not in prompt.response.headers
    assert bodies == [bodies[0]] * 3
    assert said(bodies[0]) == "Hello world"
    assert is_whole(bodies[0])


async def test_no_turn_runs(gateway: Gateway) -> None:
    assert (await call(gateway, STREAM, method="GET")).status_code == 204
    assert (await call(gateway, "stop", {})).status_code == 404
    answer = {"questionId": "q1", "answer": 1}
    assert (await call(gateway, "answer", answer)).status_code == 404
    assert (await call(gateway, "messages", method="GET")).status_code == 501


async def test_a_turn_whose_end_was_received_is_not_repeated(
    agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway) as prompt:
        await (await agent.run()).say(*BEGUN, *END)
        await prompt.end()
    await gateway.has_ended("completed")

    assert (await call(gateway, STREAM, method="GET")).status_code == 204
    assert (await call(gateway, "stop", {})).status_code == 404


async def test_a_turn_whose_end_nobody_received_is_there_for_a_while(
    agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway, policy="continue") as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
    await run.say(*END)
    await gateway.has_ended("client_gone")

    async with resuming(gateway) as reader:
        body = await reader.end()

    assert said(body) == "Hello world"
    assert is_whole(body)


async def test_a_turn_that_is_over_is_forgotten(agent: AskingAgent) -> None:
    async with gateway_of(agent, turn_log_keep_s=0.01) as gateway:
        async with prompting(gateway, policy="continue") as prompt:
            run = await agent.run()
            await run.say(*BEGUN)
            await prompt.sees("Hello")
        await run.say(*END)
        await gateway.has_ended("client_gone")
        await asyncio.sleep(0.1)

        assert (await call(gateway, STREAM, method="GET")).status_code == 204


async def test_one_turn_of_a_chat_at_a_time(agent: AskingAgent, gateway: Gateway) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        second = await post(gateway)
        elsewhere = asyncio.create_task(post(gateway, params={"channelId": "other"}))
        await (await agent.run()).say(*BEGUN, *END)
        await run.say(*END)
        await prompt.end()

    assert second.status_code == 409
    assert second.json()["code"] == "another_turn"
    assert said((await elsewhere).text) == "Hello world"


async def test_the_next_prompt_may_follow_the_end_at_once(
    agent: AskingAgent, gateway: Gateway
) -> None:
    for _ in range(20):
        async with prompting(gateway) as prompt:
            assert prompt.response.status_code == 200
            await (await agent.run()).say(*BEGUN, *END)
            await prompt.end()


async def test_two_prompts_at_one_moment(agent: AskingAgent, gateway: Gateway) -> None:
    posts = [asyncio.create_task(post(gateway)) for _ in range(5)]
    run = await agent.run()
    await until(lambda: sum(task.done() for task in posts) == 4)
    await run.say(*BEGUN, *END)
    statuses = sorted([(await task).status_code for task in posts])

    assert statuses == [200, 409, 409, 409, 409]
    assert agent.runs.empty()


@pytest.mark.parametrize(
    "refused", [{"onDisconnect": "odd"}, {"profile": "6"}], ids=["policy", "profile"]
)
async def test_a_prompt_that_is_refused_gives_its_chat_back(
    refused: dict[str, str], agent: AskingAgent, gateway: Gateway
) -> None:
    assert (await post(gateway, params=refused)).status_code == 400
    assert (await call(gateway, STREAM, method="GET")).status_code == 204
    prompt = asyncio.create_task(post(gateway))
    await (await agent.run()).say(*BEGUN, *END)

    assert (await prompt).status_code == 200


async def test_a_prompt_over_the_rate_gives_its_chat_back(agent: AskingAgent) -> None:
    async with gateway_of(agent, turns_per_minute=1) as gateway:
        prompt = asyncio.create_task(post(gateway))
        await (await agent.run()).say(*BEGUN, *END)
        await prompt

        assert [(await post(gateway)).status_code for _ in range(2)] == [429, 429]


async def test_an_agent_that_is_down_gives_the_chat_back() -> None:
    async with Gateway("framed://127.0.0.1:1/{session_id}", dialect=Asking.name) as gateway:
        for _ in range(2):
            response = await post(gateway)
            assert errors(response.text) == ["Connection failed"]
        assert (await call(gateway, STREAM, method="GET")).status_code == 204


async def test_a_stop_ends_the_turn_for_everybody(agent: AskingAgent, gateway: Gateway) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        async with resuming(gateway) as reader:
            await reader.sees("Hello")
            named = await call(gateway, "stop", {"turnId": "t9"}, user="u3")
            stopped = await call(gateway, "stop", {"turnId": "t1"}, user="u3")
            bodies = [await prompt.end(), await reader.end()]
        await until(lambda: run.has_left)

    assert named.status_code == 409
    assert named.json()["code"] == "another_turn"
    receipt = stopped.json()
    assert receipt.pop("waitedMs") >= 0
    assert receipt == {"stopped": True, "turnId": "t1", "reason": "canceled"}
    assert outline(bodies[0])[-2:] == outline(bodies[1])[-2:] == ["abort", "finish"]
    await gateway.has_ended("canceled", times=2)
    assert (await call(gateway, "stop", {})).status_code == 404


async def test_under_continue_the_turn_goes_on_without_anybody(
    agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway, policy="continue") as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
    async with resuming(gateway) as reader:
        await reader.sees("Hello")
    await run.say(Text(" there"))
    async with resuming(gateway) as reader:
        await reader.sees(" there")
        await run.say(*END)
        assert said(await reader.end()) == "Hello there world"
    assert not run.has_left or gateway.ended("client_gone")


async def test_under_grace_a_reader_keeps_the_turn(agent: AskingAgent) -> None:
    async with (
        gateway_of(agent, grace_s=0.3) as gateway,
        prompting(gateway, policy="grace") as prompt,
    ):
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        async with resuming(gateway) as reader:
            await reader.sees("Hello")
            await prompt.hang_up()
            await asyncio.sleep(0.5)
            await run.say(*END)
            assert said(await reader.end()) == "Hello world"


async def test_under_grace_a_turn_that_nobody_reads_is_aborted(agent: AskingAgent) -> None:
    async with gateway_of(agent, grace_s=0.05) as gateway:
        async with prompting(gateway, policy="grace") as prompt:
            run = await agent.run()
            await run.say(*BEGUN)
            await prompt.sees("Hello")
        await until(lambda: run.has_left)
        assert (await call(gateway, "stop", {})).status_code == 404


@pytest.mark.parametrize("ending", ["hang up", "crash", "drain"])
async def test_readers_see_how_the_turn_ended(
    ending: str, agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        async with resuming(gateway) as reader:
            await reader.sees("Hello")
            match ending:
                case "hang up":
                    await prompt.hang_up()
                case "crash":
                    run.crash()
                case _:
                    gateway.streams.drain()
                    await until(lambda: errors(reader.body), within_s=20)
            body = await reader.end()

    assert is_whole(body)
    assert said(body) in {"Hello", ""}
    expected = {"hang up": [], "crash": ["Stream interrupted"], "drain": ["Gateway restarting"]}
    assert errors(body) == expected[ending]
    assert ("abort" in outline(body)) is (ending == "hang up")


async def test_a_reader_that_leaves_ends_nothing(agent: AskingAgent, gateway: Gateway) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        async with resuming(gateway) as reader:
            await reader.sees("Hello")
        await run.say(*END)
        assert said(await prompt.end()) == "Hello world"


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"sessions": {"s1": "viewer"}}, 200),
        ({"sessions": {"s2": "owner"}}, 404),
        ({"sessions": None}, 404),
        ({"exp": 1}, 401),
    ],
    ids=["viewer", "other session", "no session", "expired"],
)
async def test_who_may_read(
    given: dict[str, Any], status: int, agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        async with resuming(gateway, **given) as reader:
            assert reader.response.status_code == status
        await run.say(*END)
        await prompt.end()


@pytest.mark.parametrize(
    ("session", "params"),
    [
        ("s2", {}),
        ("s1:", {}),
        ("s1", {"channelId": "other"}),
        ("s1", {"channelType": "other"}),
        ("s1", {"threadId": "chat-1"}),
    ],
)
async def test_nothing_is_reached_by_a_guessed_id(
    session: str, params: dict[str, str], agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*BEGUN, Asks("q1"), Waits())
        await prompt.sees("q1")
        for chat_id in ("chat-1", "s1", "t1"):
            got = await call(
                gateway, f"chat/{chat_id}/stream", method="GET", session=session, params=params
            )
            assert got.status_code == 204
        stop = await call(gateway, "stop", {"turnId": "t1"}, session=session, params=params)
        answer = {"questionId": "q1", "answer": 1}
        answered = await call(gateway, "answer", answer, session=session, params=params)
        assert (stop.status_code, answered.status_code) == (404, 404)


async def test_an_orchestrator_is_its_users_own(agent: AskingAgent, gateway: Gateway) -> None:
    own = {user: bearer(user, sessions={"orchestrator": "owner"}) for user in ("u1", "u2")}
    prompt = asyncio.create_task(post(gateway, session="orchestrator", headers=own["u1"]))
    run = await agent.run()
    await run.say(*BEGUN)
    for user, status in (("u2", 204), ("u1", 200)):
        reading = asyncio.create_task(
            call(gateway, STREAM, method="GET", session="orchestrator", headers=own[user])
        )
        if user == "u1":
            await until(lambda: gateway.counted("turnwire_streams_active") == 2)
            await run.say(*END)
        assert (await reading).status_code == status
    await prompt


async def test_a_question_is_answered_beside_its_stream(
    agent: AskingAgent, gateway: Gateway
) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*BEGUN, Asks("q1"), Asks("q2"), Waits())
        await prompt.sees("q2")
        run.leave()
        async with resuming(gateway) as reader:
            await reader.sees("q2")
            for question, user, status in (
                ("q9", "u1", 404),
                ("q1", "u2", 404),
                ("q1", "u1", 202),
                ("q1", "u1", 409),
                ("q2", "u1", 202),
            ):
                body = {"questionId": question, "answer": {"a": question}}
                got = await call(gateway, "answer", body, user=user)
                assert got.status_code == status, (question, user)
            second = await agent.run()
            answers = {name: msgspec.json.decode(raw) for name, raw in second.run.answers.items()}
            assert answers == {"q1": {"a": "q1"}, "q2": {"a": "q2"}}
            await second.say(*END)
            bodies = [await prompt.end(), await reader.end()]

    seen = [read(body) for body in bodies]
    assert seen[0].parts == seen[1].parts
    assert seen[0].questions == {"q1": "resolved", "q2": "resolved"}
    assert said(bodies[0]) == "Hello world"


async def test_every_collaborator_may_answer_where_the_settings_say_so(
    agent: AskingAgent,
) -> None:
    async with gateway_of(agent, answers="collaborators") as gateway, prompting(gateway) as prompt:
        await (await agent.run()).say(*BEGUN, Asks("q1"), Waits())
        await prompt.sees("q1")
        got = await call(gateway, "answer", {"questionId": "q1", "answer": 1}, user="u2")
        await (await agent.run()).say(*END)
        await prompt.end()

    assert got.status_code == 202


async def test_a_turn_that_is_too_long_goes_on_and_cannot_be_resumed(agent: AskingAgent) -> None:
    async with gateway_of(agent, turn_log_bytes=1_000) as gateway, prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(Begun("t1"), Text("x" * 2_000))
        await prompt.sees("xxx")
        got = await call(gateway, STREAM, method="GET")
        assert gateway.counted("turnwire_turn_log_too_long_total") == 1
        stopped = await call(gateway, "stop", {})
        body = await prompt.end()

    assert got.status_code == 410
    assert got.json()["code"] == "turn_too_long"
    assert stopped.status_code == 200
    assert len(said(body)) == 2_000


async def test_a_client_that_counts_its_chunks(agent: AskingAgent, gateway: Gateway) -> None:
    headers = {"content-type": "text/plain"}
    async with prompting(gateway, headers=headers) as prompt:
        run = await agent.run()
        await run.say(Begun("t1"), Text("one two three "))
        await prompt.sees("two")
        run_id = prompt.response.headers["x-workflow-run-id"]
    async with resuming(gateway, chat_id=run_id, params={"startIndex": "3"}) as reader:
        await run.say(Text("four"), Over())
        rest = await reader.end()
    async with resuming(gateway, chat_id=run_id, params={"startIndex": "0"}) as reader:
        whole = await reader.end()
    async with resuming(gateway, chat_id=run_id, params={"startIndex": "5"}) as reader:
        end = await reader.end()
    other = await call(gateway, f"chat/{'0' * 32}/stream", method="GET", params={"startIndex": "0"})

    assert is_whole(rest)
    assert said(whole) == "one two three four"
    assert said(rest) == "one two three four".removeprefix(said(whole)[: -len(said(rest))])
    assert whole.endswith(rest.removeprefix(b": keepalive\n\n"))
    assert whole.endswith(end.removeprefix(b": keepalive\n\n"))
    assert other.status_code == 204


@pytest.mark.parametrize(
    ("method", "route", "body"),
    [
        ("GET", STREAM, None),
        ("POST", "stop", {}),
        ("POST", "answer", {"questionId": "q1", "answer": 1}),
        ("GET", "messages", None),
    ],
)
async def test_without_a_log_there_is_nothing(
    method: str, route: str, body: object, agent: AskingAgent
) -> None:
    async with gateway_of(agent, turn_log="off") as gateway:
        got = await call(gateway, route, body, method=method)

    assert got.status_code == 501
    assert got.json()["code"] == "not_supported"


async def test_without_a_log_several_prompts_run(agent: AskingAgent) -> None:
    async with gateway_of(agent, turn_log="off") as gateway:
        posts = [asyncio.create_task(post(gateway)) for _ in range(2)]
        for _ in posts:
            await (await agent.run()).say(*BEGUN, *END)
        assert [(await each).status_code for each in posts] == [200, 200]
        assert "x-turnwire-resume" not in (await posts[0]).headers


@pytest.mark.parametrize("place", ["off", "memory"])
async def test_the_document_says_what_there_is(place: str, agent: AskingAgent) -> None:
    async with gateway_of(agent, turn_log=place) as gateway:
        document = (await get(gateway, "/openapi.json")).json()

    resume = document["paths"]["/api/sessions/{session_id}/chat/{chat_id}/stream"]["get"]
    assert ("501" in resume["responses"]) is (place == "off")
    assert "410" in resume["responses"]


async def test_the_log_says_which_streams_are_kept_and_read(
    agent: AskingAgent, gateway: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    async with prompting(gateway) as prompt:
        run = await agent.run()
        await run.say(*BEGUN)
        await prompt.sees("Hello")
        async with resuming(gateway) as reader:
            await reader.sees("Hello")
            await run.say(*END)
            await reader.end()
        await prompt.end()
    await gateway.has_ended("completed", times=2)

    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if "stream ended" in line]
    assert sorted("turn_log=kept" in line for line in lines) == [False, True]
    assert sorted("turn_log=read" in line for line in lines) == [False, True]
