import asyncio
import json
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Final

import pytest
from websockets.exceptions import InvalidStatus

from runtime.cli.serve_process import TESTS, ended, serving
from runtime.host.hosted import words
from runtime.llm.call.called import ANSWER, KEY, chunk
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, sends, sends_then_silent
from runtime.llm.streams import sse
from turnwire_agent.tools.names import wire_name

pytestmark = pytest.mark.sockets

EVERYWHERE: Final = "0.0.0.0:"
FAULTY: Final = TESTS / "runtime/mcp/faulty_server.py"
BEGINNING: Final = sse(chunk(role="assistant", content="Once upon"))
POSTGRES: Final = "postgresql://me:canary@127.0.0.1:9/d"
QUICK_S: Final = 6.0
"""Much less than the lease of a process that died, which is 10 s."""
SHOP: Final = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "paths": {"/orders": {"get": {"operationId": "orders", "responses": {}}}},
}


def agent_file(folder: Path, url: str, more: str = "") -> str:
    """Write settings of an agent whose model is on this machine."""
    path = folder / "agent.toml"
    model = f'model = "local:tiny"\nbase_url = "{url}"\nshape = "chat"\n'
    path.write_text(f"{model}{more}")
    return str(path)


async def test_a_file_is_served_until_sigterm(tmp_path: Path) -> None:
    async with ScriptedServer([sends(STREAM_HEAD + ANSWER)]) as model:
        file = agent_file(tmp_path, model.url, 'instructions = "Be brief."\n')
        async with serving(file, folder=tmp_path) as served:
            async with served.socket() as gateway:
                assert words(await gateway.turn("Hi")) == "Hello"
            code, log = await served.stop()

    assert code == 0
    assert "Traceback" not in log
    assert "Hello" not in log
    assert "Be brief." in model.asked[0].body.decode()
    assert (tmp_path / "turnwire-agent.db").stat().st_mode & 0o777 == 0o600


async def test_an_object_is_served_and_a_flag_counts_more(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from turnwire_agent import Agent\n"
        'agent = Agent(model="openai:gpt", instructions="Of the object.", journal="memory")\n'
    )
    async with ScriptedServer([sends(STREAM_HEAD + ANSWER)]) as model:
        where = (
            "--base-url",
            model.url,
            "--key-variable",
            "MINE",
            "--instructions",
            "Of the flag.",
        )
        served_ = serving("mine:agent", *where, folder=tmp_path, variables={"MINE": KEY})
        async with served_ as served:
            async with served.socket() as gateway:
                await gateway.turn("Hi")
            _, log = await served.stop(signal.SIGINT)

    (asked,) = model.asked
    assert json.loads(asked.body)["messages"][0]["content"] == "Of the flag."
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in log
    assert not (tmp_path / "turnwire-agent.db").exists()


async def test_flags_alone_are_enough_with_tools_of_all_kinds(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text(json.dumps(SHOP))
    command = json.dumps([str(FAULTY), str(tmp_path / "calls"), "{}"])
    async with ScriptedServer([sends(STREAM_HEAD + ANSWER)]) as model:
        flags = ("--model", "local:tiny", "--base-url", model.url, "--shape", "chat")
        tools = (
            *("--tool", "runtime.cli.offered:operations", "--tool", "runtime.cli.offered:cancel"),
            *("--mcp", f'files={{command="{sys.executable}", arguments={command}, only=["echo"]}}'),
            *("--openapi", f'shop={{document="shop.json", address="{model.url}"}}'),
        )
        serving_ = serving(*flags, *tools, folder=tmp_path)
        async with serving_ as served, served.socket() as gateway:
            await gateway.turn("Hi")

    sent = {each["function"]["name"] for each in json.loads(model.asked[0].body)["tools"]}
    named = ("cancel", "files.echo", "orders.ship", "shop.orders")
    assert sent == {wire_name(name, "chat") for name in named}


async def test_a_turn_that_runs_at_sigterm_is_handed_over_at_once(tmp_path: Path) -> None:
    scripts = [sends_then_silent(STREAM_HEAD + BEGINNING), sends(STREAM_HEAD + ANSWER)]
    async with ScriptedServer(scripts) as model:
        file = agent_file(tmp_path, model.url)
        two = (serving(file, folder=tmp_path), serving(file, folder=tmp_path))
        async with (
            two[0] as first,
            two[1] as other,
            first.socket() as gateway,
            other.socket() as follower,
        ):
            await gateway.ask("Tell me a story")
            created = await gateway.until("message.create")
            await follower.until("message.part.text-delta")
            began = time.monotonic()
            code, _ = await first.stop()
            rest = await follower.rest()
            lasted = time.monotonic() - began

    assert code == 0
    assert lasted < QUICK_S
    assert rest[-1]["turnId"] == created["turnId"]
    assert words(rest) == "Hello"


async def test_a_turn_goes_on_after_sigkill(tmp_path: Path) -> None:
    scripts = [sends_then_silent(STREAM_HEAD + BEGINNING), sends(STREAM_HEAD + ANSWER)]
    async with ScriptedServer(scripts) as model:
        file = agent_file(tmp_path, model.url, "[host]\nlease_s = 1\n")
        async with serving(file, folder=tmp_path) as first, first.socket() as gateway:
            await gateway.ask("Tell me a story")
            created = await gateway.until("message.create")
            await gateway.until("message.part.text-delta")
            await first.stop(signal.SIGKILL)
        async with serving(file, folder=tmp_path) as other, other.socket() as gateway:
            ended_ = await gateway.until("complete")

    assert ended_["turnId"] == created["turnId"]


async def test_nothing_is_lost_by_sigkill_after_somebody_listed_the_sessions(
    tmp_path: Path,
) -> None:
    """Or after a second server on the same journal came and went."""
    async with ScriptedServer([sends(STREAM_HEAD + ANSWER)] * 3) as model:
        file = agent_file(tmp_path, model.url, "[host]\nlease_s = 1\n")
        async with serving(file, folder=tmp_path) as first:
            async with first.socket() as gateway:
                await gateway.turn("Before")
            listed = await ended("sessions", file, folder=tmp_path)
            async with serving(file, folder=tmp_path) as second:
                await second.stop()
            async with first.socket() as gateway:
                await gateway.turn("After", "p2")
            await first.stop(signal.SIGKILL)
        _, kept, _ = await ended("sessions", file, "--session", "s1", "--json", folder=tmp_path)

    assert (listed[0], "s1" in listed[1]) == (0, True)
    assert ("Before" in kept, "After" in kept) == (True, True)


async def test_others_than_this_machine_need_the_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("canary-token")
    flags = ("--model", "ollama:tiny", "--token-file", "token", "--journal", "memory")
    async with serving(*flags, "--listen", f"{EVERYWHERE}0", folder=tmp_path) as served:
        served.url = served.url.replace(EVERYWHERE, "127.0.0.1:")
        with pytest.raises(InvalidStatus, match="401"):
            async with served.socket():
                pass
        async with served.socket(token="canary-token"):
            pass
        _, log = await served.stop()

    assert "canary-token" not in log


async def test_metrics_are_served(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    flags = ("--model", "ollama:tiny", "--journal", "memory", "--metrics", f"127.0.0.1:{port}")
    async with serving(*flags, folder=tmp_path):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /metrics HTTP/1.0\r\n\r\n")
        answer = await reader.read()
        writer.close()

    assert b"turnwire_agent_turns_running 0.0" in answer


async def test_what_cannot_start_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    local = ("--model", "ollama:tiny")
    cases: dict[tuple[str, ...], str] = {
        ("--model", "openai:gpt"): "No key: the variable OPENAI_API_KEY is not set.",
        (*local, "--journal", "sqlite:no/such/folder.db"): "cannot be opened",
        (*local, "--journal", POSTGRES): "cannot be used: nothing listens at its host and port",
        (*local, "--journal", "memory", "--metrics", "192.0.2.1:9464"): (
            "metrics cannot be served at 192.0.2.1:9464: Cannot assign requested address"
        ),
        (*local, "--journal", "memory", "--metrics", f"{'h' * 64}:80"): "the host is unknown",
    }

    async def serve(arguments: tuple[str, ...]) -> tuple[int, str, str]:
        listen = () if "--listen" in arguments else ("--listen", "127.0.0.1:0")
        return await ended("serve", *arguments, *listen, folder=tmp_path)

    outcomes = await asyncio.gather(*map(serve, cases))
    for (code, out, errors), because in zip(outcomes, cases.values(), strict=True):
        assert (code, out) == (1, ""), errors
        assert because in errors
        assert errors.startswith("turnwire-agent serve: ")
        assert errors.count("\n") == 1
        assert "canary" not in errors


async def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        taken_at = taken.getsockname()
        where = f"127.0.0.1:{taken_at[1]}"
        flags = ("--model", "ollama:tiny", "--listen", where)
        code, _, errors = await ended("serve", *flags, folder=tmp_path)

    in_use = f"Address already in use (while attempting to bind on address {taken_at})"
    assert code == 1
    assert errors == f"turnwire-agent serve: cannot listen at {where}: {in_use}\n"
    assert not (tmp_path / "turnwire-agent.db").exists()


async def test_settings_that_fit_only_together_are_one_line_and_exit_code_2(tmp_path: Path) -> None:
    file = agent_file(tmp_path, "http://127.0.0.1:9/v1", 'tools = ["json:no"]\n')
    code, out, errors = await ended("serve", file, folder=tmp_path)

    assert (code, out) == (2, "")
    assert errors == "turnwire-agent serve: json:no: the module has no 'no'\n"
