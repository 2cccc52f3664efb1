"""`turnwire doctor`: its report, its exit codes, and that it hides the token."""

import json
from pathlib import Path

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import Json
from gateway.control_plane import ControlPlane as Server
from gateway.control_plane import Question, reply
from gateway.process import command, environ
from gateway.running import Gateway
from gateway.tokens import token
from turnwire.cli import main

pytestmark = pytest.mark.sockets
INIT: Json = {"type": "init", "session": {"id": "s1", "messages": []}, "data": {}}


async def tell(line: Line) -> None:
    await line.say(INIT)
    await line.begin()
    await line.say(*(frames.delta(f"{n} ") for n in range(20)), frames.finalize())


async def doctor(*arguments: str) -> tuple[int, str, str]:
    return await command("doctor", *arguments, env=environ())


async def test_the_command_tells_it_and_hides_the_token(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(token() + "\n")

    async def says(_: Question, writer: object) -> None:
        headers = ("location: /" + file.read_text().strip(), "server: envoy")
        writer.write(reply(302, b"", *headers))  # type: ignore[attr-defined]

    async with Server(says) as server:
        options = ("--url", f"http://127.0.0.1:{server.port}/", "--token-file", str(file))
        code, out, _ = await doctor(*options)
        json_code, json_out, _ = await doctor(*options, "--json")

    told: Json = json.loads(json_out)
    assert (code, json_code) == (1, 1)
    assert "ERROR redirected: 302 to /[token]" in out
    assert "--yes" in out
    assert told["proxy"] == "envoy"
    assert told["findings"][0]["code"] == "redirected"
    assert token() not in out + json_out


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("the", "/the/other"),  # which is in every report
        ("external", "/[token]/externals"),
        ("x" * 24, "/y[token]y"),
    ],
)
async def test_a_token_is_blotted_out_and_no_ordinary_word(given: str, shown: str) -> None:
    back = shown.replace("[token]", given)

    async def says(_: Question, writer: object) -> None:
        writer.write(reply(302, b"", f"location: {back}"))  # type: ignore[attr-defined]

    async with Server(says) as server:
        code, out, err = await doctor("--url", f"http://127.0.0.1:{server.port}", "--token", given)

    assert code == 1
    assert f"302 to {shown}" in out
    assert ("a token of 3 characters" in err) == (given == "the")


async def test_the_command_says_that_all_is_well() -> None:
    async with ScriptedAgent(tell) as agent, Gateway(agent.url()) as gateway:
        code, out, _ = await doctor("--url", gateway.url, "--token", token(), "--yes")

    assert code == 0
    assert "Nothing is wrong in what could be judged." in out
    assert "Not tried:\n- whether its stream comes through whole" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--url", "http://127.0.0.1:1", "--token", "x"),
        ("--url", "http://127.0.0.1:1", "--token", " "),
        ("--url", "http://127.0.0.1:1", "--token-file", "/nowhere"),
        ("--url", "https://127.0.0.1:1", "--token", "x", "--ca-file", __file__),
        ("--url", "ftp://127.0.0.1", "--token", "x"),
        ("--url", "http://[", "--token", "x"),
        ("--url", "http://127.0.0.1:1", "--token", "x", "--session", "../x"),
        ("--url", "http://127.0.0.1:1"),
    ],
)
def test_what_cannot_be_examined(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = main(("doctor", *arguments))
    except SystemExit as exc:  # so argparse ends
        code = exc.code

    told = capsys.readouterr()
    assert (code, told.out) == (2, "")
    assert "doctor: " in told.err
