"""A prompt that cannot be accepted is answered: its client waits for it."""

import asyncio

import pytest
from prometheus_client import REGISTRY

from gateway.waiting import PATIENCE_S
from runtime.host.hosted import Scripted, echo, hosted, words

pytestmark = pytest.mark.sockets

HALF = '{"type": "prompt", "promptId": "p1", "content": "\\ud83d"}'
LONG_ID = '{"type": "prompt", "promptId": "%s", "content": "hello"}' % ("p" * 513)


def refused() -> float | None:
    labels = {"reason": "unreadable"}
    return REGISTRY.get_sample_value("turnwire_agent_refused_prompts_total", labels)


@pytest.mark.parametrize(
    ("sent", "named"), [(HALF, {"promptId": "p1"}), (LONG_ID, {})], ids=["half", "long id"]
)
async def test_a_prompt_that_cannot_be_read_is_refused_and_nobody_else_hears_of_it(
    sent: str, named: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    before = refused()
    assert before is not None
    async with hosted(Scripted(echo)) as host, host.socket() as socket, host.socket() as other:
        async with asyncio.timeout(PATIENCE_S):
            await socket.connection.send(sent)
            error = await socket.next()
            assert error == {"type": "error", "error": "The prompt cannot be read"} | named
            assert words(await socket.turn("hello", "p2")) == "hello "
            assert next(each["type"] for each in await other.rest("p2")) == "message.create"
    assert refused() == before + 1
    assert "session=s1 outcome=unreadable" in caplog.text
