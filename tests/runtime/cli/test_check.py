import json

import pytest

from runtime.cli.command import run
from runtime.llm.call.called import ANSWER, KEY
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, response, sends

Captured = pytest.CaptureFixture[str]


async def test_without_a_model_it_says_whose_keys_there_are(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)

    assert await run("check") == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "anthropic: no key in the variable ANTHROPIC_API_KEY",
        "google: key found in the variable GEMINI_API_KEY",
        "llama-cpp: takes no key",
        "ollama: takes no key",
        "openai: no key in the variable OPENAI_API_KEY",
        "openai-responses: no key in the variable OPENAI_API_KEY",
    ]
    assert err == ""


async def test_it_says_of_each_model_where_its_key_is(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)

    assert await run("check", "--model", "anthropic:claude", "--model", "ollama:tiny") == 0
    out, _ = capsys.readouterr()
    assert out.splitlines() == [
        "anthropic:claude: speaks messages with https://api.anthropic.com/v1",
        "anthropic:claude: key found in the variable ANTHROPIC_API_KEY",
        "ollama:tiny: speaks chat with http://127.0.0.1:11434/v1",
        "ollama:tiny: sends no key",
    ]


async def test_a_key_that_is_missing_fails_and_the_others_are_looked_at(capsys: Captured) -> None:
    assert await run("check", "--model", "openai:gpt", "--model", "ollama:tiny") == 1
    out, err = capsys.readouterr()
    assert "openai:gpt: No key: the variable OPENAI_API_KEY is not set." in err
    assert "ollama:tiny: sends no key" in out


async def test_it_says_what_of_a_schema_is_lost(capsys: Captured) -> None:
    tool = ("--tool", "runtime.cli.odd_tool:odd")

    assert await run("check", "--model", "ollama:tiny", *tool) == 0
    assert "tools.odd#/properties/word: pattern is not sent as a rule" in capsys.readouterr().out


async def test_a_trial_asks_for_one_word(capsys: Captured) -> None:
    async with ScriptedServer([sends(STREAM_HEAD + ANSWER)]) as server:
        where = ("--base-url", server.url, "--shape", "chat")
        assert await run("check", "--model", "local:tiny", *where, "--try") == 0
    body = json.loads(server.asked[0].body)

    assert "local:tiny: answers (stop)" in capsys.readouterr().out
    assert body["max_completion_tokens"] == 16


async def test_a_trial_that_fails_is_a_line(capsys: Captured) -> None:
    slow = sends(response(503, {"error": "busy"}, retry_after_ms="1"))
    refused = sends(response(401, {"error": "no"}))
    async with ScriptedServer([slow, refused]) as server:
        where = ("--base-url", server.url, "--shape", "chat")
        assert await run("check", "--model", "local:tiny", *where, "--try") == 1
    _, err = capsys.readouterr()

    assert "again in 0.001 s" in err
    assert err.endswith("local:tiny: unauthorized (401): no\n")
