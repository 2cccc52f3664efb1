"""The scripted AG-UI agent over real HTTP: its own answers, and answers that a test gives it."""

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import httpx
import pytest

from turnwire_lab.agents.ag_ui.answer import Answer, Ending
from turnwire_lab.agents.ag_ui.http import Framing
from turnwire_lab.agents.ag_ui.journal import End
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits

pytestmark = pytest.mark.sockets

BODY = b'data: {"type":"RUN_STARTED"}\n\ndata: {"type":"RUN_FINISHED"}\n\n'
QUICK = Habits(pace_s=0, slow_s=0)


def asked(prompt: str, **more: Any) -> dict[str, Any]:
    message = {"id": "m1", "role": "user", "content": prompt}
    return {"threadId": "t1", "runId": "r1", "messages": [message], **more}


def events(body: str) -> list[dict[str, Any]]:
    records = body.removesuffix("\n\n").split("\n\n")
    return [json.loads(record.removeprefix("data: ")) for record in records]


def types(told: list[dict[str, Any]]) -> list[str]:
    """The types in order, rows of one type as one."""
    kinds = [each["type"] for each in told]
    return [kind for kind, before in zip(kinds, [None, *kinds], strict=False) if kind != before]


async def run(agent: AgUiAgent, prompt: str, **more: Any) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.post(agent.url, json=asked(prompt, **more))
    assert response.headers["content-type"] == "text/event-stream"
    return events(response.text)


async def fetched(agent: AgUiAgent) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.post(agent.url, json=asked("hello"))


async def test_a_text_is_one_message_in_pieces() -> None:
    async with AgUiAgent(QUICK) as agent:
        told = await run(agent, "hello")

        assert types(told) == [
            "RUN_STARTED",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED",
        ]
        assert "> hello" in "".join(each.get("delta", "") for each in told)
        assert told[-1] == {
            "type": "RUN_FINISHED",
            "threadId": "t1",
            "runId": "r1",
            "outcome": {"type": "success"},
        }
        assert [each.ended for each in agent.runs] == [End.PLAYED]


async def test_a_tool_is_called_between_two_messages() -> None:
    async with AgUiAgent(QUICK) as agent:
        told = await run(agent, "what is 12*7?")

        assert types(told)[3:9] == [
            "TEXT_MESSAGE_END",
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_END",
            "TOOL_CALL_RESULT",
            "TEXT_MESSAGE_START",
        ]
        arguments = "".join(each["delta"] for each in told if each["type"] == "TOOL_CALL_ARGS")
        (result,) = (each for each in told if each["type"] == "TOOL_CALL_RESULT")
        assert json.loads(arguments) == {"expression": "12*7"}
        assert json.loads(result["content"])["value"] == 84


async def test_thoughts_are_told_before_the_text() -> None:
    async with AgUiAgent(QUICK) as agent:
        told = types(await run(agent, "think about rivers"))

        assert told.index("REASONING_MESSAGE_END") < told.index("TEXT_MESSAGE_START")


async def test_a_run_that_fails_ends_with_its_reason() -> None:
    async with AgUiAgent(QUICK) as agent:
        told = await run(agent, "make the turn fail")

        assert told[-1] == {
            "type": "RUN_ERROR",
            "message": "The agent was told to fail this turn.",
        }


@pytest.mark.parametrize(
    ("payload", "result"), [({"approved": True}, 84), ({"approved": False}, None), ({}, None)]
)
async def test_an_approval_is_the_end_of_one_run_and_the_begin_of_another(
    payload: dict[str, bool], result: int | None
) -> None:
    async with AgUiAgent(QUICK) as agent:
        (interrupt,) = (await run(agent, "approve 12*7"))[-1]["outcome"]["interrupts"]
        answer = {"interruptId": interrupt["id"], "status": "resolved", "payload": payload}

        told = await run(agent, "approve 12*7", resume=[answer])

        assert told[1]["type"] == "TOOL_CALL_RESULT"
        assert told[1]["toolCallId"] == interrupt["toolCallId"]
        assert told[1]["content"] == "Denied" or json.loads(told[1]["content"])["value"] == result
        assert (told[1]["content"] == "Denied") == (result is None)
        assert told[-1]["outcome"] == {"type": "success"}


async def test_every_open_interrupt_wants_an_answer() -> None:
    async with AgUiAgent(QUICK) as agent:
        interrupts = (await run(agent, "approve two things"))[-1]["outcome"]["interrupts"]
        answer = {"status": "resolved", "payload": {"approved": True}}

        told = await run(agent, "", resume=[{"interruptId": interrupts[0]["id"], **answer}])

        assert len(interrupts) == 2
        assert told[-1]["type"] == "RUN_ERROR"


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_what_is_no_run_is_refused(method: str) -> None:
    async with AgUiAgent(QUICK) as agent, httpx.AsyncClient(trust_env=False) as client:
        refused = await client.request(method, agent.url, json={"threadId": "t1"})

        assert refused.status_code == (404 if method == "GET" else 422)


async def test_a_client_that_hangs_up_is_noticed() -> None:
    async with AgUiAgent(QUICK) as agent, httpx.AsyncClient(trust_env=False) as client:
        async with client.stream("POST", agent.url, json=asked("hang")) as response:
            await anext(response.aiter_bytes())
            assert agent.runs[0].ended is None

        await agent.until(lambda: agent.runs[0].ended is End.HUNG_UP and agent.connections == 0)


async def test_requests_share_a_connection() -> None:
    async with AgUiAgent(QUICK) as agent, httpx.AsyncClient(trust_env=False) as client:
        for _ in range(2):
            await client.post(agent.url, json=asked("say nothing"))

        assert [each.connection for each in agent.runs] == [1, 1]
        agent.drop_connections()
        await agent.until(lambda: agent.connections == 0)


@pytest.mark.parametrize("framing", Framing)
async def test_a_body_is_played_byte_for_byte_in_each_framing(
    framing: Framing, tmp_path: Path
) -> None:
    recorded = tmp_path / "recorded.body"
    recorded.write_bytes(BODY)
    async with AgUiAgent() as agent:
        agent.answers += [
            Answer.recorded(recorded, framing),
            Answer.recorded(recorded, framing).sliced(1),
        ]

        responses = [await fetched(agent), await fetched(agent)]

        assert [each.content for each in responses] == [BODY, BODY]


@pytest.mark.parametrize("ending", [Ending.CUT, Ending.RESET])
@pytest.mark.parametrize("framing", [Framing.CHUNKED, Framing.LENGTH])
async def test_a_body_breaks_off_where_it_is_cut(framing: Framing, ending: Ending) -> None:
    async with AgUiAgent() as agent:
        whole = Answer(body=[BODY[:7], 0.0, BODY[7:]], framing=framing)
        agent.answers.append(whole.cut(20, ending))

        with pytest.raises(httpx.TransportError):
            await fetched(agent)

        assert agent.runs[0].ended is End.PLAYED


async def test_a_body_without_a_length_ends_where_it_is_cut() -> None:
    async with AgUiAgent() as agent:
        agent.answers.append(Answer(body=[BODY], framing=Framing.CLOSE).cut(20))

        assert (await fetched(agent)).content == BODY[:20]


async def test_an_answer_may_have_any_head_and_keep_it_back() -> None:
    async with AgUiAgent() as agent:
        agent.answers.append(
            Answer(
                status=529,
                content_type="text/plain",
                headers={"retry-after": "7"},
                framing=Framing.LENGTH,
                head_after_s=0.01,
            )
        )

        response = await fetched(agent)

        assert response.status_code == 529
        assert (response.headers["content-type"], response.headers["retry-after"]) == (
            "text/plain",
            "7",
        )


async def test_an_answer_may_hang_until_the_client_leaves() -> None:
    async with AgUiAgent() as agent:
        agent.answers.append(Answer(body=[BODY], ending=Ending.HANG))

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(fetched(agent), 0.2)

        await agent.until(lambda: agent.runs[0].ended is End.HUNG_UP)


async def test_a_connection_may_close_behind_an_answer_without_a_word() -> None:
    async with AgUiAgent() as agent, httpx.AsyncClient(trust_env=False) as client:
        agent.answers.append(Answer(body=[BODY], keeps=False))

        response = await client.post(agent.url, json=asked("hello"))

        assert response.headers.get("connection") is None
        await agent.until(lambda: agent.connections == 0)


async def test_a_request_may_come_in_chunks() -> None:
    async def chunks() -> Any:
        yield b'{"threadId":"t1",'
        yield b'"runId":"r1","messages":[]}'

    async with AgUiAgent(QUICK) as agent, httpx.AsyncClient(trust_env=False) as client:
        await client.post(agent.url, content=chunks())

        assert agent.runs[0].input == {"threadId": "t1", "runId": "r1", "messages": []}


async def test_the_agent_runs_alone() -> None:
    arguments = ("agent", "--wire", "ag-ui", "--port", "0", "--pace", "0")
    agent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire_lab", *arguments), stdout=PIPE, stderr=PIPE
    )
    assert agent.stdout is not None
    line = (await agent.stdout.readline()).decode()
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.post(line.split()[-1], json=asked("what is 12*7?"))
    agent.send_signal(signal.SIGTERM)

    assert (await agent.communicate())[1] == b""
    assert agent.returncode == 0
    assert "speaks ag-ui at http://127.0.0.1:" in line
    assert events(response.text)[-1]["outcome"] == {"type": "success"}
