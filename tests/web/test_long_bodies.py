"""Bodies that take long to read do not hold the event loop."""

import json
import threading
from typing import Any

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import ask, is_whole, new_client
from gateway.running import Gateway
from gateway.tokens import bearer
from turnwire.core.prompt import extract
from turnwire.web import chat

pytestmark = pytest.mark.sockets


@pytest.mark.attack(
    "a body of megabytes that takes long to read", "it is read beside the event loop"
)
@pytest.mark.parametrize(("size", "is_beside"), [(1_000, False), (chat.LONG_BYTES, True)])
async def test_a_long_body_is_read_beside_the_loop(
    size: int,
    is_beside: bool,  # noqa: FBT001 (a parameter of pytest's)
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where: list[threading.Thread] = []

    def noted(*given: Any) -> Any:
        where.append(threading.current_thread())
        return extract(*given)

    monkeypatch.setattr(chat, "extract", noted)
    body = json.dumps(ask(metadata="x" * size)).encode()
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway, new_client() as client:
        url = f"{gateway.url}/api/sessions/s1/chat"
        headers = {**bearer(), "content-type": "application/json"}
        answer = await client.post(url, content=body, headers=headers)
        wrong = await client.post(url, content=b"[" * size * 2, headers=headers)

    assert is_whole(answer.text)
    assert wrong.status_code == 400
    assert {thread is not threading.main_thread() for thread in where} == {is_beside}
