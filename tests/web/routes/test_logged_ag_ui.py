"""The turn log before a real AG-UI agent: resume, stop, and answers beside the stream."""

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.asking_agent import call, prompting, resuming
from gateway.clients import ask, chunks, outline, said
from gateway.http_agent import Asked, HttpAgent
from gateway.running import Gateway
from gateway.waiting import until
from support import ag_ui_frames as f
from support.http_dialect import CHUNKED, END, chunk
from turnwire.core.approvals import Invalid, Signed, Signer
from turnwire.testing.client_model import read
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits

pytestmark = pytest.mark.sockets

KEY = "a key that signs approvals and nothing else"
SIGNER = Signer(keys=(KEY.encode(),), session_id="s1", user_id="u1")
NATIVE = {"x-turnwire-profile": "7"}


@pytest.fixture
async def agent() -> AsyncIterator[AgUiAgent]:
    async with AgUiAgent(Habits(pace_s=0.01, slow_s=0.01)) as agent:
        yield agent


@pytest.fixture
async def gateway(agent: AgUiAgent) -> AsyncIterator[Gateway]:
    async with Gateway(f"{agent.url}?session={{session_id}}", dialect="ag-ui") as gateway:
        yield gateway


async def test_a_reload_in_mid_turn(gateway: Gateway) -> None:
    """The agent has no resume, and the client hears the same message again, to its end."""
    async with prompting(gateway, policy="grace", body=ask("what is 12*7?")) as prompt:
        await prompt.sees("tool-input-start")
        async with resuming(gateway, user="u1") as reader:
            await prompt.hang_up()
            body = await reader.end()

    seen = read(body)
    assert set(seen.tools.values()) == {"output"}
    assert "84" in said(body)


async def test_a_stop_reaches_the_agent(agent: AgUiAgent, gateway: Gateway) -> None:
    async with prompting(gateway, body=ask("tell me a long story")) as prompt:
        await until(lambda: "evening 2 " in said(prompt.body))
        stopped = await call(gateway, "stop", {})
        body = await prompt.end()
        await until(lambda: agent.connections == 0)

    assert stopped.json()["reason"] == "canceled"
    assert outline(body)[-2:] == ["abort", "finish"]
    assert "evening 200 " not in said(body)


async def test_an_approval_of_the_portable_profile(agent: AgUiAgent, gateway: Gateway) -> None:
    async with prompting(gateway, body=ask("approve 12*7")) as prompt:
        await prompt.sees('"state":"open"')
        async with resuming(gateway) as reader:
            await reader.sees('"state":"open"')
            question = next(c for c in chunks(reader.body) if c["type"] == "data-question")
            answer = {"questionId": question["id"], "answer": True}
            answered = await call(gateway, "answer", answer)
            twice = await call(gateway, "answer", answer)
            bodies = [await prompt.end(), await reader.end()]

    assert (answered.status_code, twice.status_code) == (202, 409)
    first, second = map(read, bodies)
    assert first.parts == second.parts
    assert set(first.questions.values()) == {"resolved"}
    assert set(first.tools.values()) == {"output"}
    assert len(agent.runs) == 2


async def asked_until(moment: float | None, **given: Any) -> tuple[str, int]:
    """The id of an approval that the agent expires then, and the status of a late answer to it.

    The answer is sent when the turn log has forgotten the turn, if a time is named.
    """
    said_so = (
        {} if moment is None else {"expiresAt": datetime.fromtimestamp(moment, UTC).isoformat()}
    )
    interrupt = {"id": "i1", "reason": "tool_call", "toolCallId": "c1", **said_so}
    told = (
        f.event("RUN_STARTED"),
        *f.whole_call("c1", "rm", "{}"),
        f.event("RUN_FINISHED", outcome={"type": "interrupt", "interrupts": [interrupt]}),
    )

    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED + chunk(b"".join(b"data: %b\n\n" % each for each in told)) + END)

    async with (
        HttpAgent(script) as agent,
        Gateway(agent.url, dialect="ag-ui", signing_keys=KEY, **given) as gateway,
    ):
        async with prompting(gateway, headers=NATIVE) as prompt:
            body = await prompt.end()
        (request,) = (each for each in chunks(body) if each["type"] == "tool-approval-request")
        approval = {"id": request["approvalId"], "approved": True}
        part = {"type": "tool-rm", "toolCallId": "c1", "input": {}, "providerExecuted": True}
        parts = [
            {"type": "step-start"},
            part | {"state": "approval-responded", "approval": approval},
        ]
        message = {"id": chunks(body)[0]["messageId"], "role": "assistant", "parts": parts}
        if moment is not None:
            await until(lambda: gateway.counted("turnwire_turn_log_turns") == 0)
        late = await call(gateway, "chat", {"id": "chat-1", "messages": [message]}, headers=NATIVE)
        return request["approvalId"], late.status_code


async def test_an_approval_is_gone_when_the_agent_expires_it() -> None:
    moment = time.time() + 2

    approval_id, status = await asked_until(moment)

    assert isinstance(SIGNER.read(approval_id, moment - 1), Signed)
    assert SIGNER.read(approval_id, moment) is Invalid.EXPIRED
    assert status == 409


@pytest.mark.parametrize(
    ("kept", "valid_s"),
    [({}, 86_400), ({"question_keep_s": 7_200}, 7_200), ({"question_keep_s": 1}, 3_600)],
)
async def test_an_approval_is_valid_for_as_long_as_its_turn_is_kept(
    kept: dict[str, float], valid_s: int
) -> None:
    now = time.time()

    approval_id, status = await asked_until(None, **kept)

    assert isinstance(SIGNER.read(approval_id, now + valid_s - 2), Signed)
    assert SIGNER.read(approval_id, now + valid_s + 60) is Invalid.EXPIRED
    assert status == 200
