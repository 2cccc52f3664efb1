"""pi behind a bridge, its dialect in a gateway, and clients: each turn is a process."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import pytest

from agents.bridged_pi import BridgedPi, bridged_pi
from gateway.clients import Json, ask, chunks, errors, is_whole, said
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire_lab.gateway import Gateway

# Each turn waits for the start of a process.
pytestmark = [pytest.mark.sockets, pytest.mark.timeout(240)]

PATIENCE_S: Final = 110
LINES: Final = "line 1\nline 2\nline 3\n"
HELLO: Final = "Hello wörld 👋, how are you?"
STORY: Final = (
    "Once upon a time there was a small agent that told a story, "
    "and the story took a while to tell."
)


@pytest.fixture(scope="module")
def pi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BridgedPi]:
    with bridged_pi(tmp_path_factory.mktemp("pi")) as pi:
        yield pi


class User:
    """A client of a gateway."""

    def __init__(self, gateway: Gateway, client: httpx.AsyncClient) -> None:
        self._url = f"{gateway.url}/api/sessions"
        self._client = client

    async def turn(self, text: str, session: str, **more: Any) -> str:
        """One turn, read to its end."""
        url = f"{self._url}/{session}/chat"
        response = await self._client.post(url, json=ask(text, **more), headers=bearer())
        assert response.status_code == httpx.codes.OK, response.text
        return response.text

    async def stopped(self, text: str, session: str, *, at: str) -> str:
        """One turn that is stopped when this is in it, read to its end."""
        url, shown = f"{self._url}/{session}", ""
        stopping: asyncio.Task[httpx.Response] | None = None
        async with self._client.stream(
            "POST", f"{url}/chat", json=ask(text), headers=bearer()
        ) as response:
            async for piece in response.aiter_text():
                shown += piece
                if stopping is None and at in shown:
                    stop = self._client.post(f"{url}/stop", json={}, headers=bearer())
                    stopping = asyncio.create_task(stop)
        assert stopping is not None, shown
        assert (await stopping).status_code == httpx.codes.OK
        return shown

    async def answered(self, text: str, session: str, answer: Any) -> str:
        """One turn that asks, and is answered, read to its end."""
        url, shown = f"{self._url}/{session}", ""
        has_answered = False
        async with self._client.stream(
            "POST", f"{url}/chat", json=ask(text), headers=bearer()
        ) as stream:
            async for piece in stream.aiter_text():
                shown += piece
                if not has_answered and (questions := of(shown, "data-question")):
                    asked = questions[0]["data"]
                    body = {
                        "id": "chat-1",
                        "questionId": asked["questionId"],
                        "approvalId": asked["approvalId"],
                        "answer": answer,
                    }
                    answered = await self._client.post(f"{url}/answer", json=body, headers=bearer())
                    assert answered.is_success, answered.text
                    has_answered = True
        return shown


@asynccontextmanager
async def before(pi: BridgedPi, **settings: str) -> AsyncIterator[User]:
    async with (
        pi.gateway(**settings) as gateway,
        httpx.AsyncClient(trust_env=False, timeout=PATIENCE_S) as client,
    ):
        yield User(gateway, client)


def prompted(request: Any) -> list[str]:
    """What users said, in a request to the model."""
    messages = request["body"]["messages"]
    contents = [message["content"] for message in messages if message["role"] == "user"]
    return ["".join(part["text"] for part in content) for content in contents]


def of(body: str, *kinds: str) -> list[Json]:
    return [chunk for chunk in chunks(body) if chunk["type"] in kinds]


async def test_a_text_and_a_thought(pi: BridgedPi) -> None:
    async with before(pi) as user:
        hello = await user.turn("say hello", "text")
        thought = await user.turn("think", "thought")

    assert (said(hello), said(thought)) == (HELLO, "Then I answer.")
    assert is_whole(hello)
    assert is_whole(thought)
    reasoning = "".join(each["delta"] for each in of(thought, "reasoning-delta"))
    assert reasoning == "First I consider the question."
    (end,) = of(hello, "finish")
    assert end["messageMetadata"]["usage"]["outputTokens"] > 0


async def test_a_tool_runs_and_its_result_is_told_once(pi: BridgedPi) -> None:
    async with before(pi) as user:
        body = await user.turn("run it", "tool")

    assert is_whole(body)
    assert said(body) == "I will run it. It printed three lines."
    (available,) = of(body, "tool-input-available")
    assert available["input"]["command"].startswith("for i in")
    outputs = of(body, "tool-output-available")
    assert [each["output"] for each in outputs if not each.get("preliminary")] == [LINES]
    pieces = "".join(each["inputTextDelta"] for each in of(body, "tool-input-delta"))
    assert "sleep 0.2" in pieces
    assert len(of(body, "start-step")) == 2


async def test_tools_that_run_at_once_end_in_their_own_order(pi: BridgedPi) -> None:
    async with before(pi) as user:
        body = await user.turn("run both", "both")

    outputs = {
        each["toolCallId"]: each["output"]
        for each in of(body, "tool-output-available")
        if not each.get("preliminary")
    }
    assert list(outputs.items()) == [("call_fast", "fast\n"), ("call_slow", "slow\n")]
    assert is_whole(body)
    assert said(body) == "Two. Both ran."


async def test_a_tool_that_fails_is_a_card_and_no_error_of_the_turn(pi: BridgedPi) -> None:
    async with before(pi) as user:
        body = await user.turn("fail it", "fails")

    (failed,) = of(body, "tool-output-error")
    assert "oops" in failed["errorText"]
    assert "code 3" in failed["errorText"]
    assert is_whole(body)
    assert said(body) == "It failed."


async def test_the_next_prompt_goes_on_in_the_same_session(pi: BridgedPi) -> None:
    """Each is in a process of its own; another chat has a session of its own."""
    async with before(pi) as user:
        await user.turn("say hello to me", "goes-on")
        second = [
            {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "say hello to me"}]},
            {"id": "a1", "role": "assistant", "parts": [{"type": "text", "text": HELLO}]},
            {"id": "m2", "role": "user", "parts": [{"type": "text", "text": "say hello again"}]},
        ]
        again = await user.turn("", "goes-on", messages=second)
        elsewhere = await user.turn("", "other-chat", messages=second)

    assert said(again) == HELLO
    assert not of(again, "data-notice")
    first, last = pi.model.requests("say hello again")
    assert prompted(first) == ["say hello to me", "say hello again"]
    assert prompted(last) == ["say hello again"]
    (notice,) = of(elsewhere, "data-notice")
    assert notice["data"]["notice"] == "new_session"
    assert all(path.name.startswith("turnwire-") for path in pi.sessions)


async def test_a_stop_in_a_text_ends_with_an_abort_and_the_session_goes_on(pi: BridgedPi) -> None:
    async with before(pi) as user:
        shown = await user.stopped("tell a long story", "stopped", at="text-delta")
        after = await user.turn("say hello after it", "stopped")

    assert [each["type"] for each in chunks(shown)[-2:]] == ["abort", "finish"]
    assert STORY.startswith(said(shown))
    assert not errors(shown)
    assert is_whole(after)
    *_, known = pi.model.requests("say hello after it")
    assert prompted(known) == ["tell a long story", "say hello after it"]


async def test_a_stop_in_a_tool_is_no_error(pi: BridgedPi) -> None:
    async with before(pi) as user:
        shown = await user.stopped("sleep long", "stopped-tool", at="tool-input-available")

    assert [each["type"] for each in chunks(shown)[-2:]] == ["abort", "finish"]
    assert not errors(shown)
    assert len(of(shown, "tool-output-error")) == 1


async def test_an_attempt_that_fails_is_made_again(pi: BridgedPi) -> None:
    async with before(pi) as user:
        body = await user.turn("try again", "retried")

    assert is_whole(body)
    assert said(body) == "Now it works."
    statuses = [each["data"]["status"] for each in of(body, "data-agent-status")]
    assert "retrying" in statuses


async def test_attempts_that_all_fail_are_one_error(pi: BridgedPi) -> None:
    async with before(pi) as user:
        body = await user.turn("it never works", "fails-always")

    (error,) = errors(body)
    assert "Overloaded" in error
    assert chunks(body)[-1]["type"] == "finish"


@pytest.mark.parametrize("answer", [True, False], ids=["yes", "no"])
async def test_what_an_extension_asks_is_a_question_and_its_answer_counts(
    pi: BridgedPi,
    answer: bool,  # noqa: FBT001 (a parameter of the test)
) -> None:
    async with before(pi) as user:
        body = await user.answered("delete notes.txt", f"asks-{answer}", answer)

    asked, resolved = of(body, "data-question")
    assert asked["data"]["text"] == "Remove it?\n\nrm -f notes.txt && echo it is gone"
    assert resolved["data"]["state"] == "resolved"
    assert said(body) == ("It is deleted." if answer else "I did not.")
    assert bool(of(body, "tool-output-error")) is not answer
    assert is_whole(body)


async def test_a_command_of_an_extension_is_a_turn_that_ends(pi: BridgedPi) -> None:
    async with before(pi) as user:
        body = await user.turn("/greet", "command")

    statuses = [each["data"] for each in of(body, "data-agent-status")]
    assert {"status": "notify", "detail": "Hello from the extension"} in statuses
    assert is_whole(body)
    assert not pi.model.requests("/greet")


async def test_an_answer_that_is_too_long_says_so(pi: BridgedPi) -> None:
    async with before(pi) as user:
        body = await user.turn("it is too long", "length")

    assert is_whole(body)
    assert "length" in str(of(body, "finish"))


async def test_the_system_prompt_is_shown_to_nobody(pi: BridgedPi) -> None:
    async with before(pi) as user:
        body = await user.turn("say hello with a system", "system")

    (asked,) = pi.model.requests("say hello with a system")
    assert "coding agent harness" in str(asked["body"]["messages"][0])
    assert "harness" not in body


async def test_no_process_is_left(pi: BridgedPi) -> None:
    await until(lambda: pi.processes("began") == pi.processes("ended"))
    assert pi.processes("began")
