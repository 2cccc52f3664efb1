"""The client for programs, against the reference agent behind a real gateway."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.running import Gateway
from gateway.tokens import token
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.client import chunks, message
from turnwire_lab.client.chunks import AgentStatus
from turnwire_lab.client.client import Client, File
from turnwire_lab.client.errors import NothingAsked, Refused, TurnError, Unreachable
from turnwire_lab.client.question import Question

pytestmark = pytest.mark.sockets


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    async with ReferenceAgent(Habits(pace_s=0.001)) as agent, Gateway(agent.url) as gateway:
        yield gateway


@pytest.fixture
async def client(gateway: Gateway) -> AsyncIterator[Client]:
    async with Client(gateway.url, "s1", token()) as client:
        yield client


@pytest.mark.parametrize(
    "prompt",
    [
        "hello",
        "what is 12*7?",
        "make the tool fail",
        "think about rivers",
        "send me a picture",
        "cite two sources",
        "say nothing",
    ],
)
async def test_a_message_is_the_same_streamed_and_loaded(client: Client, prompt: str) -> None:
    async with client.chat(prompt) as stream:
        told = [chunk async for chunk in stream]
    asked, answered = await client.messages()

    assert stream.message == answered
    assert stream.turn_id == answered.id
    assert (asked.role, asked.text) == ("user", prompt)
    assert type(told[0]) is chunks.Start or type(told[0]) is AgentStatus
    assert type(told[-1]) is chunks.Finish
    assert not stream.aborted


async def test_a_turn_is_left_and_taken_up_from_its_start(client: Client) -> None:
    async with client.chat("tell me a long story", on_disconnect="continue") as stream:
        async for chunk in stream:
            if isinstance(chunk, chunks.TextDelta):
                break
    async with client.resume() as again:
        assert again is not None
        whole = await again.end()
    async with client.resume() as over:
        assert over is None

    assert whole.id == stream.turn_id
    assert whole.text.startswith(stream.message.text)
    assert whole.text.endswith("this is the end.")


async def test_a_turn_is_stopped(client: Client) -> None:
    async with client.chat("hang") as stream:
        async for chunk in stream:
            if isinstance(chunk, chunks.TextDelta):
                break
        receipt = await client.stop(stream.turn_id)
        await stream.end()
    again = await client.stop(stream.turn_id)

    assert (receipt.stopped, receipt.turn_id) == (True, stream.turn_id)
    assert stream.aborted
    assert again.reason == "canceled"


async def test_a_question_is_answered_once(client: Client) -> None:
    async with client.chat("ask me: tea or coffee?") as stream:
        async for chunk in stream:
            if isinstance(chunk, Question) and chunk.is_open:
                await client.answer(chunk.id, "tea")
                with pytest.raises(Refused) as late:
                    await client.answer(chunk.id, "coffee")
                with pytest.raises(Refused) as unknown:
                    await client.answer("nobody-asked", "tea")

    assert "you said **tea**" in stream.message.text
    question = next(part for part in stream.message.parts if isinstance(part, Question))
    assert (question.state, question.answer) == ("resolved", "tea")
    assert (late.value.status, unknown.value.status) == (409, 404)
    assert unknown.value.code
    assert unknown.value.retry_after is None


async def test_the_history_is_read_in_pages(client: Client) -> None:
    for number in range(3):
        async with client.chat(f"what is {number}+1?") as stream:
            await stream.end()
    last = await client.messages(limit=2)
    before = await client.messages(limit=1, before=last[0].id)

    assert last[0].text == "what is 2+1?"
    assert "1+1 is **2**" in before[0].text


async def test_the_last_prompt_is_asked_again(gateway: Gateway, client: Client) -> None:
    with pytest.raises(NothingAsked):
        async with client.regenerate():
            pass
    async with client.chat(
        "what is 6*7?", files=[File(media_type="text/plain", url=TEXT)]
    ) as first:
        await first.end()
    async with client.regenerate(message_id=first.turn_id) as second:
        await second.end()
    async with Client(gateway.url, "s1", token()) as other, other.regenerate() as third:
        await third.end()
    history = await client.messages()

    assert "42" in second.message.text
    assert "42" in third.message.text
    assert [said.role for said in history] == ["user", "assistant"]
    assert history[0].parts[0] == message.File(TEXT, "text/plain")


TEXT = "data:text/plain;base64,aGk="


async def test_files_go_along(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hi")
    nameless = tmp_path / "what"
    nameless.write_bytes(b"")
    async with client.chat("describe these files", files=[File.of(path)]) as stream:
        answer = await stream.end()

    assert "notes.txt" in answer.text
    assert File.of(path).url == TEXT
    assert File.of(nameless).media_type == "application/octet-stream"


async def test_a_failed_turn_is_an_error_with_its_text(client: Client) -> None:
    async with client.chat("make the turn fail") as stream:
        with pytest.raises(TurnError, match="The agent was told to fail this turn"):
            await stream.end()

    assert stream.message.text == "I will try, but it will not "


async def test_refusals_have_a_status_and_a_code(gateway: Gateway) -> None:
    async with Client(gateway.url, "s1", None) as stranger:
        with pytest.raises(Refused) as refused:
            async with stranger.chat("hello"):
                pass
        with pytest.raises(Refused) as unread:
            await stranger.messages()

    assert (refused.value.status, unread.value.status) == (401, 401)
    assert refused.value.code


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "somewhere", "http://[::1", "ftp://[::1]"])
async def test_nobody_there(url: str) -> None:
    async with Client(url, "s1", token()) as client:
        with pytest.raises(Unreachable):
            await client.stop()
