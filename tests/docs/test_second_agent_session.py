"""The second agent of the docs without a gateway: one session, frame by frame."""

import asyncio
import json
import runpy
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.waiting import until

EXAMPLES: Final = Path(__file__).parents[2] / "examples/agents"


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the agent's file defines."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return runpy.run_path(str(EXAMPLES / "second_agent.py"))


@pytest.mark.parametrize("named", ["turnId", "promptId"])
async def test_an_abort_right_behind_its_prompt_ends_the_turn(
    plain: dict[str, Any], named: str
) -> None:
    session = plain["Session"]()
    names = {"promptId": "p0", "channelType": "web", "channelId": "default"}
    session.receive({"type": "prompt", "content": "tell me a story"} | names, "ann")
    session.receive({"type": "abort", "promptId": "", named: "p0"}, "ann")
    await until(lambda: not session.tasks)

    _, turn = session.messages
    said, finish = turn["parts"]
    assert said == {"type": "text", "text": "Line 1 of the story. "}
    assert finish == {"type": "finish", "reason": "canceled"}


async def test_a_result_that_is_no_json_fails_its_call_alone(
    plain: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """The session can still be sent, and the log says why the call failed."""
    session = plain["Session"]()
    plain["TOOLS"]["divide"] = lambda a, b: asyncio.sleep(0, {a, b})
    for prompt_id, content in (("p0", "what is 12/4?"), ("p1", "hello")):
        session.receive({"type": "prompt", "promptId": prompt_id, "content": content}, "ann")
    await until(lambda: not session.tasks)

    first, second = (entry for entry in session.messages if entry["role"] == "assistant")
    assert (first["parts"][1]["status"], first["parts"][1]["error"]) == (
        "error",
        "divide has no result",
    )
    assert [each["parts"][-1]["reason"] for each in (first, second)] == ["end_turn", "end_turn"]
    assert json.loads(json.dumps(session.messages))
    assert "TypeError" in capsys.readouterr().err


@pytest.mark.parametrize("result", [None, [], "done", {"when": {1}}])
async def test_a_call_without_an_end_that_can_be_told_ends_as_an_error(
    plain: dict[str, Any], result: object
) -> None:
    session = plain["Session"]()

    async def perform(_turn: object, _call: object) -> object:
        return result

    session.perform = perform
    session.receive({"type": "prompt", "promptId": "p0", "content": "what is 1/1?"}, "ann")
    await until(lambda: not session.tasks)

    _, call, text, finish = session.messages[1]["parts"]
    assert (call["status"], call["error"]) == ("error", "divide has no result")
    assert (text["text"], finish["reason"]) == ("It cannot be done.", "end_turn")


async def test_what_tools_and_the_loop_change_changes_no_history(plain: dict[str, Any]) -> None:
    session = plain["Session"]()
    given: dict[str, Any] = {"of": [1]}

    async def changing(where: dict[str, Any]) -> dict[str, Any]:
        where["when"] = {1}  # no JSON
        return {"found": {}}

    async def think(turn: Any, _prompt: str) -> None:
        result = await session.call(turn, "changing", where=given)
        result["found"]["when"] = given["of"] = {1}

    plain["TOOLS"]["changing"], session.think = changing, think
    session.receive({"type": "prompt", "promptId": "p0", "content": "hello"}, "ann")
    await until(lambda: not session.tasks)

    call = json.loads(plain["encode"](session.messages))[1]["parts"][1]
    assert (call["args"], call["result"]) == ({"where": {"of": [1]}}, {"found": {}})


async def test_an_answer_that_is_no_json_fails_its_turn_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only another holder of the token can send one: the gateway does not."""
    monkeypatch.syspath_prepend(EXAMPLES)
    asks = runpy.run_path(str(EXAMPLES / "second_agent_asks.py"))
    session = asks["AskingSession"]()
    session.receive({"type": "prompt", "promptId": "p0", "content": "delete notes.txt"}, "ann")
    await until(lambda: session.answers)
    (question_id,) = session.answers
    session.receive({"type": "answer", "questionId": question_id, "answer": float("inf")}, "ann")
    await until(lambda: not session.tasks)

    assert asks["encode"](session.messages)
    assert session.messages[1]["parts"][-1]["type"] == "finish"


async def test_an_input_that_is_no_json_fails_its_turn_alone(plain: dict[str, Any]) -> None:
    """The session can still be sent."""
    session = plain["Session"]()

    async def think(turn: Any, prompt: str) -> None:
        await session.call(turn, "divide", a=float(prompt), b=1)

    session.think = think
    for prompt_id, content in (("p0", "nan"), ("p1", "12")):
        session.receive({"type": "prompt", "promptId": prompt_id, "content": content}, "ann")
    await until(lambda: not session.tasks)

    first, second = (entry for entry in session.messages if entry["role"] == "assistant")
    assert [part["type"] for part in first["parts"]] == ["text", "finish"]
    assert [each["parts"][-1]["reason"] for each in (first, second)] == ["error", "end_turn"]
    assert json.loads(plain["encode"](session.messages))


async def test_a_turn_that_fails_ends_and_the_next_one_runs(
    plain: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The log of asyncio says why it failed."""
    session = plain["Session"]()
    plain["STORY"].insert(0, 0)  # no text
    for prompt_id, content in (("p0", "tell me a story"), ("p1", "hello")):
        session.receive({"type": "prompt", "promptId": prompt_id, "content": content}, "ann")
    await until(lambda: not session.tasks)

    first, second = (entry for entry in session.messages if entry["role"] == "assistant")
    assert [each["parts"][-1]["reason"] for each in (first, second)] == ["error", "end_turn"]
    assert "TypeError" in caplog.text
