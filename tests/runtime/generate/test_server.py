import asyncio
import signal
import socket
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from runtime.cli.command import run
from runtime.generate.served import PATH, asked, model, read, serving
from runtime.llm.call.called import ANSWER, KEY
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, sends, sends_then_silent
from turnwire_agent.access.listening import BadAddressError, CannotListenError, listener

Captured = pytest.CaptureFixture[str]
MODEL = ("generate", "--model", "tiny=ollama:tiny")
MOST_PACKAGES = 14


@pytest.mark.parametrize(
    "where", ["8790", "127.0.0.1", ":8790", "127.0.0.1:x", "127.0.0.1:65536", f"a:{'1' * 5_000}"]
)
def test_what_is_no_address_is_refused(where: str) -> None:
    with pytest.raises(BadAddressError, match="is not HOST:PORT"):
        listener(where, has_token=True)


def test_it_listens_on_loopback_without_a_token_and_elsewhere_with_one() -> None:
    for where in ("127.0.0.1:0", "localhost:0"):
        listening, loopback = listener(where, has_token=False)
        listening.close()
        assert loopback
    with pytest.raises(BadAddressError, match="others than this machine"):
        listener("0.0.0.0:0", has_token=False)
    listening, loopback = listener("0.0.0.0:0", has_token=True)
    listening.close()
    assert not loopback


def test_an_address_that_is_taken_or_unknown_is_told() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(CannotListenError, match="cannot listen at"),
    ):
        listener(f"127.0.0.1:{taken.getsockname()[1]}", has_token=False)
    with pytest.raises(CannotListenError, match="is unknown"):
        listener("no host:1", has_token=False)


async def test_a_wrong_command_line_is_one_line(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "token"
    for more, code, line in (
        (("--model", "x"), 2, "'x' is not NAME=PROVIDER:MODEL"),
        (("--model", "tiny=ollama:other"), 2, "two models are called 'tiny'"),
        (("--listen", "0.0.0.0:0"), 2, "listen: others than this machine reach 0.0.0.0:0"),
        (("--listen", "nope"), 2, "listen: 'nope' is not HOST:PORT"),
        (("--listen", "no host:1"), 1, "the host 'no host' is unknown"),
        (("--token-file", str(file)), 2, "token_file: No token: there is no file"),
    ):
        assert await run(*MODEL, *more) == code
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"turnwire-agent generate: {line}")
        assert err.count("\n") == 1


@pytest.mark.sockets
async def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    key, token = tmp_path / "key", tmp_path / "token"
    key.write_text(KEY)
    token.write_text("canary-token")
    program = "import sys; from turnwire_agent.cli import main; sys.exit(main())"
    command = ("-c", program, *MODEL, "--listen", "127.0.0.1:0")
    files = ("--key-file", str(key), "--token-file", str(token))
    async with ScriptedServer([sends(STREAM_HEAD + ANSWER)]) as provider:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            *files,
            "--base-url",
            provider.url,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout
        line = (await process.stdout.readline()).decode()
        url = line.removeprefix("listening on ").strip()
        async with httpx.AsyncClient() as client:
            headers = {"authorization": "Bearer canary-token"}
            answered = await client.post(url + PATH, json=asked(), headers=headers)
            await client.post(url + PATH, json=asked())
        process.send_signal(signal.SIGTERM)
        _, err = await process.communicate()

    assert read(answered.text)[-1]["type"] == "finish"
    assert provider.asked[0].headers["authorization"] == f"Bearer {KEY}"
    log = err.decode()
    assert "INFO generate: model=tiny status=200 outcome=stop parts=9" in log
    assert "WARNING generate: model=- status=401 outcome=refused" in log
    assert "canary" not in log
    assert process.returncode == 0


@pytest.mark.sockets
async def test_an_answer_that_runs_when_it_stops_is_cut_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("turnwire_agent.generate.server.STOPPING_S", 1)
    async with ScriptedServer([sends_then_silent(STREAM_HEAD)]) as provider:
        async with asyncio.timeout(9), serving(model(provider.url)) as program:
            asking = asyncio.create_task(program.post())
            await provider.was_asked.wait()
            program.stop()
            with pytest.raises(httpx.HTTPError):
                await asking
        assert provider.hung_up.is_set()


def test_an_install_has_few_packages() -> None:
    """With their requirements here, and on a Python that needs most of them."""
    found = set[str]()
    waiting = ["turnwire-agent"]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        found.add(name)
        asked_for = [Requirement(each) for each in distribution(name).requires or ()]
        waiting += [
            each.name
            for each in asked_for
            if each.marker is None or each.marker.evaluate({"extra": "", "python_version": "3.11"})
        ]

    assert {"httpx", "msgspec", "starlette", "uvicorn"} < found
    assert len(found) <= MOST_PACKAGES, sorted(found)


def test_what_only_the_server_needs_is_imported_by_it_alone() -> None:
    """`import turnwire_agent`, and each other command, start without it."""
    program = (
        "import sys; import turnwire_agent, turnwire_agent.cli; "
        "print(*sorted({'starlette', 'uvicorn'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert ran.stdout == "\n"
