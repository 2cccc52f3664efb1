"""The same over TLS: whole turns, long requests, cuts, and connections that are kept."""

from pathlib import Path

import pytest

from gateway.certificates import authority_and_agent, of_agent, trusting
from gateway.clients import chatting, errors, is_whole, post, said
from gateway.http_agent import LONG_TEXT, Asked, HttpAgent, answers, gateway_of, post_long
from gateway.waiting import until
from support.http_dialect import BEGUN, CHUNKED, HEAD, WHOLE, HttpDialect, chunk, chunked, events
from turnwire.dialects import DIALECTS

pytestmark = pytest.mark.sockets


@pytest.fixture(autouse=True)
def dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, HttpDialect.name, HttpDialect())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tls")
    authority_and_agent(made)
    return made


async def test_turns_on_one_connection(folder: Path) -> None:
    text = "é" * 200_000
    async with (
        HttpAgent(answers(chunked(events("Hello", text))), tls=of_agent(folder)) as agent,
        gateway_of(agent, tls=trusting(folder)) as gateway,
    ):
        for _ in range(3):
            answer = await post(gateway)
            assert is_whole(answer.text)
            assert said(answer.text) == f"Hello{text}"

    assert [asked.connection for asked in agent.requests] == [0, 0, 0]
    assert agent.requests[0].headers["host"] == f"localhost:{agent.port}"


async def test_a_long_request(folder: Path) -> None:
    async with (
        HttpAgent(answers(chunked(WHOLE)), tls=of_agent(folder)) as agent,
        gateway_of(agent, tls=trusting(folder)) as gateway,
    ):
        assert is_whole((await post_long(gateway)).text)

    assert LONG_TEXT.encode() in agent.requests[0].body


async def test_a_certificate_of_nobody_known_is_refused(folder: Path) -> None:
    async with (
        HttpAgent(answers(chunked(WHOLE)), tls=of_agent(folder)) as agent,
        gateway_of(agent) as gateway,
    ):
        assert errors((await post(gateway)).text) == ["Connection failed"]
        assert gateway.counted("turnwire_dial_failures_total", reason="tls") == 1

    assert agent.requests == []


async def test_a_body_that_the_close_ends(folder: Path) -> None:
    async def script(asked: Asked) -> None:
        await asked.say(HEAD + b"\r\n" + WHOLE)
        asked.close()

    async with (
        HttpAgent(script, tls=of_agent(folder)) as agent,
        gateway_of(agent, tls=trusting(folder)) as gateway,
    ):
        assert is_whole((await post(gateway)).text)


async def test_a_hang_up_and_a_cut(folder: Path) -> None:
    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED + chunk(BEGUN))
        if len(agent.requests) == 1:
            await asked.is_left()
        else:
            asked.close()

    async with (
        HttpAgent(script, tls=of_agent(folder)) as agent,
        gateway_of(agent, tls=trusting(folder)) as gateway,
    ):
        async with chatting(gateway) as chat:
            await chat.sees("Hello")
        await until(lambda: agent.open == 0)

        answer = await post(gateway)

    assert errors(answer.text) == ["Stream interrupted"]
    assert said(answer.text) == "Hello"
