import json
import sys
from pathlib import Path

import pytest

from runtime.cli.command import run
from runtime.llm.call.called import ANSWER, KEY, chunk
from runtime.llm.scripted_server import STREAM_HEAD, Script, ScriptedServer, response, sends
from runtime.llm.streams import sse

Captured = pytest.CaptureFixture[str]
WHOLE = sends(STREAM_HEAD + ANSWER)


def local(server: ScriptedServer, *arguments: str) -> tuple[str, ...]:
    where = ("--base-url", server.url, "--shape", "chat")
    return ("try", "--model", "local:tiny", *where, *arguments)


async def test_the_answer_is_on_standard_output_and_all_else_beside_it(capsys: Captured) -> None:
    async with ScriptedServer([WHOLE]) as server:
        code = await run(*local(server, "Say hello"))
    out, err = capsys.readouterr()

    assert (code, out) == (0, "Hello\n")
    assert err == "finished: stop (stop)\n"
    assert "authorization" not in server.asked[0].headers


async def test_a_fault_is_one_line(capsys: Captured) -> None:
    error = {"error": {"message": "No\x1b[31m!", "code": "model_not_found"}}
    async with ScriptedServer([sends(response(404, error))]) as server:
        code = await run(*local(server, "Hi"))
    out, err = capsys.readouterr()

    assert (code, out) == (1, "")
    assert err == "turnwire-agent try: not-found (404, model_not_found): No [31m!\n"


async def test_an_attempt_that_another_follows_is_a_line(capsys: Captured) -> None:
    slow = sends(response(429, {"error": "slow"}, retry_after_ms="1"))
    async with ScriptedServer([slow, slow, WHOLE]) as server:
        assert await run(*local(server, "Hi")) == 0
    _, err = capsys.readouterr()

    assert err.count("again in 0.001 s") == 2

    late = sends(response(429, {"error": "slow"}, retry_after="3600"))
    async with ScriptedServer([late]) as server:
        assert await run(*local(server, "Hi")) == 1
    _, err = capsys.readouterr()

    assert err == "turnwire-agent try: rate-limited (429): slow [again in 3600 s]\n"


async def test_the_bytes_are_shown_without_the_key(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    body = sse(chunk(content=f"\x1b[2J{KEY}"), chunk("stop"), "[DONE]")
    async with ScriptedServer([sends(STREAM_HEAD + body)]) as server:
        code = await run(*local(server, "--wire", "--key-variable", "MY_KEY", "Hi"))
    _, err = capsys.readouterr()

    assert code == 0
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert "> POST /v1/chat/completions HTTP/1.1\n" in err
    assert "> authorization: [secret]\n" in err.lower()
    assert "< HTTP/1.1 200 Whatever\n" in err
    assert "< data: [DONE]\n" in err
    assert KEY not in err
    assert "\x1b" not in err


async def test_an_answer_may_be_bounded() -> None:
    async with ScriptedServer([WHOLE]) as server:
        await run(*local(server, "--max-tokens", "20", "Hi"))
        await run(*local(server, "Hi"))

    bounded, free = (json.loads(asked.body) for asked in server.asked)
    assert bounded["max_completion_tokens"] == 20
    assert "max_completion_tokens" not in free


async def test_a_key_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    async with ScriptedServer([WHOLE]) as server:
        assert await run(*local(server, "--key-file", str(file), "Hi")) == 0

    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


async def test_the_key_of_a_provider_goes_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with ScriptedServer([WHOLE]) as server:
        await run("try", "--model", "openai:gpt", "--base-url", server.url, "Hi")

    assert KEY not in repr(server.asked)


async def test_without_its_key_a_provider_is_not_asked(capsys: Captured) -> None:
    assert await run("try", "--model", "anthropic:claude", "Hi") == 1
    assert "ANTHROPIC_API_KEY is not set" in capsys.readouterr().err


TOOLS = '''
from turnwire_agent.tools.contract import Tool, ToolFailed
from turnwire_agent.tools.functions import tool


def double(number: int) -> int:
    """Double a number."""
    return number * 2


@tool(name="numbers.half", approval="always")
def half(number: int) -> float:
    return number / 2


async def greet() -> str:
    return "Hello."


async def broken(number: int) -> str:
    raise RuntimeError("canary")


def refusing(number: int) -> str:
    raise ToolFailed("Not today.")


@tool(timeout_s=0.01)
async def slow(number: int) -> str:
    import asyncio
    await asyncio.sleep(60)


NUMBER = 7
'''


def calls(name: str, arguments: str) -> Script:
    function = {"name": name, "arguments": arguments}
    fragment = {"index": 0, "id": "c1", "function": function}
    return sends(STREAM_HEAD + sse(chunk(tool_calls=[fragment]), chunk("tool_calls"), "[DONE]"))


@pytest.mark.parametrize(
    ("name", "arguments", "sent", "line"),
    [
        ("double", '{"number": 21}', "42", "double done: 42"),
        ("double", '{"number": "x"}', "This call failed.", "double failed: The arguments"),
        ("double", '{"numb', "This call failed.", "double failed: The arguments"),
        ("greet", "{}", "Hello.", "greet done: Hello."),
        ("triple", "{}", "There is no tool 'triple'", "triple failed: There is no tool"),
        ("broken", '{"number": 1}', "This call failed.", "broken raised RuntimeError: canary"),
        ("refusing", '{"number": 1}', "Not today.", "refusing failed: Not today."),
        ("slow", '{"number": 1}', "It took too long.", "slow failed: It took too long."),
        ("numbers.half", '{"number": 1}', "nobody can be asked", "and standard input is none: run"),
    ],
)
async def test_a_call_is_run_and_its_result_sent_back(
    name: str,
    arguments: str,
    sent: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    (tmp_path / "own_tools.py").write_text(TOOLS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_tools", raising=False)
    flags = [
        each
        for attribute in ("double", "half", "broken", "refusing", "slow", "greet")
        for each in ("--tool", f"own_tools:{attribute}")
    ]
    async with ScriptedServer([calls(name, arguments), WHOLE]) as server:
        code = await run(*local(server, *flags, "Double 21"))
    out, err = capsys.readouterr()
    first, second = (json.loads(asked.body) for asked in server.asked)

    assert (code, out) == (0, "Hello\n")
    assert line in err
    assert {each["function"]["name"] for each in first["tools"]} > {"double", "broken"}
    result = second["messages"][-1]
    assert (result["role"], result["tool_call_id"]) == ("tool", "c1")
    assert sent in result["content"]
    assert "canary" not in server.asked[1].body.decode()


async def test_there_is_one_round_of_calls(capsys: Captured) -> None:
    async with ScriptedServer([calls("odd", "{}")]) as server:
        code = await run(*local(server, "--tool", "runtime.cli.odd_tool:odd", "Hi"))

    assert (code, len(server.asked)) == (0, 2)
    assert "not run" in capsys.readouterr().err


async def test_a_second_answer_that_fails_fails_the_try(capsys: Captured) -> None:
    refused = sends(response(400, {"error": "no"}))
    async with ScriptedServer([calls("odd", "{}"), refused]) as server:
        code = await run(*local(server, "--tool", "runtime.cli.odd_tool:odd", "Hi"))

    assert code == 1
    assert "bad-request (400): no" in capsys.readouterr().err


async def test_what_the_wire_loses_is_told(capsys: Captured) -> None:
    async with ScriptedServer([WHOLE]) as server:
        where = ("--base-url", server.url, "--shape", "google")
        tool = ("--tool", "runtime.cli.odd_tool:odd")
        await run("try", "--model", "local:tiny", *where, *tool, "Hi")

    assert "tools.odd#/properties/word: pattern, since" in capsys.readouterr().err
