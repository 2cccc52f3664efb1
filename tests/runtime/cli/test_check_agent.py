import json
import socket
import sys
from pathlib import Path
from typing import Final

import pytest

from runtime.cli.command import run
from runtime.cli.kept_session import keep
from runtime.cli.serve_process import TESTS
from runtime.llm.call.called import ANSWER
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, response, sends

Captured = pytest.CaptureFixture[str]
NOT_STARTED: Final = (
    "the server is not connected: its program cannot be started: No such file or directory"
)
FAULTY: Final = TESTS / "runtime/mcp/faulty_server.py"
SHOP: Final = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "paths": {"/orders": {"get": {"operationId": "orders"}, "trace": {}}},
}


def write(name: str, text: str) -> None:
    """Write a file where the command stands."""
    Path(name).write_text(text)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command stands in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_all_of_an_agent_is_looked_at(folder: Path, capsys: Captured) -> None:
    write("shop.json", json.dumps(SHOP))
    write(
        "agent.toml",
        f"""
model = "ollama:tiny"
tools = ["runtime.cli.offered:operations", "runtime.cli.odd_tool:odd"]
[mcp.files]
command = "{sys.executable}"
arguments = ["{FAULTY}", "{folder / "calls"}", "{{}}"]
only = ["echo"]
approval = "always"
[openapi.shop]
document = "shop.json"
address = "https://shop.example"
""",
    )

    assert await run("check", "agent.toml") == 0
    out, errors = capsys.readouterr()
    listed = "orders.ship (once), odd (once), shop.orders (safe), files.echo (once, asks a person)"
    assert errors == ""
    assert out.splitlines()[:6] == [
        "openapi shop: 1 operations are tools",
        "openapi shop: TRACE /orders is none, or not whole: TRACE (method: OPTIONS and TRACE)",
        "mcp files: has 1 tools",
        f"tools: {listed}",
        "journal: turnwire-agent.db will be made",
        "ollama:tiny: speaks chat with http://127.0.0.1:11434/v1",
    ]
    assert "tools.odd#/properties/word: pattern is not sent as a rule" in out
    assert not (folder / "turnwire-agent.db").exists()


async def test_what_is_not_there_is_told_and_the_rest_is_looked_at(
    capsys: Captured, caplog: pytest.LogCaptureFixture
) -> None:
    write(
        "agent.toml",
        'model = "openai:gpt"\njournal = "sqlite:no/such.db"\nlisten = "no host:1"\n'
        '[mcp.files]\ncommand = "/no/such/program"\n',
    )

    assert await run("check", "agent.toml") == 1
    out, errors = capsys.readouterr()
    assert out.splitlines() == ["openai:gpt: speaks chat with https://api.openai.com/v1"]
    assert errors.splitlines() == [
        f"mcp files: {NOT_STARTED}",
        "journal: there is no folder no",
        "listen: the host 'no host' is unknown",
        "openai:gpt: No key: the variable OPENAI_API_KEY is not set.",
    ]
    assert not caplog.messages  # which would tell of the next attempt, that is not made


async def test_all_that_is_wrong_is_told_and_the_rest_is_looked_at(capsys: Captured) -> None:
    flags = ("--model", "openai:gpt", "--listen", "nope", "--metrics", "nope:")
    write(
        "agent.toml",
        'token_file = "none"\n[openapi.a]\ndocument = "none.json"\naddress = "http://a"\n',
    )

    assert await run("check", "agent.toml", *flags) == 2
    out, errors = capsys.readouterr()
    assert errors.splitlines() == [
        "turnwire-agent check: openapi.a.document: there is no file none.json",
        "turnwire-agent check: token_file: No token: there is no file none.",
        "turnwire-agent check: listen: 'nope' is not HOST:PORT, as 127.0.0.1:8790",
        "turnwire-agent check: metrics: 'nope:' is not HOST:PORT, as 127.0.0.1:8790",
        "openai:gpt: No key: the variable OPENAI_API_KEY is not set.",
    ]
    assert "journal: turnwire-agent.db will be made" in out


async def test_extras_that_are_missing_are_told(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("agent.toml", 'model = "ollama:tiny"\njournal = "postgresql://a/b"\n')
    monkeypatch.setitem(sys.modules, "turnwire_agent.journal.postgres.journal", None)
    for name in [*sys.modules, "mcp", "mcp_types"]:
        if name.startswith("turnwire_agent.mcp.library"):
            monkeypatch.delitem(sys.modules, name)
        elif name.partition(".")[0] in {"mcp", "mcp_types"}:
            monkeypatch.setitem(sys.modules, name, None)

    assert await run("check", "agent.toml", "--mcp", 'a={command="b"}') == 1
    errors = capsys.readouterr().err
    assert "mcp: MCP servers need pip install 'turnwire-agent[mcp]'\n" in errors
    assert "journal: the journal is in Postgres: install turnwire-agent[postgres]\n" in errors


async def test_too_many_servers_are_a_wrong_setting(capsys: Captured) -> None:
    many = [each for n in range(51) for each in ("--mcp", f's{n}={{command="b"}}')]
    assert await run("check", "--model", "ollama:tiny", "--journal", "memory", *many) == 2
    assert capsys.readouterr().err == "turnwire-agent check: more than 50 MCP servers\n"


async def test_flags_of_the_server_are_an_agent_without_a_file(capsys: Captured) -> None:
    model = ("--model", "ollama:tiny")
    for flags in (
        ("--listen", "127.0.0.1:0"),
        ("--limits-steps", "3"),
        ("--host-private",),
        ("--journal", "sqlite:turnwire-agent.db"),
        ("--openapi", 'a={document="none.json", address="http://c"}'),
    ):
        await run("check", *model, *flags)
        assert "journal: turnwire-agent.db will be made\n" in capsys.readouterr().out, flags
    assert await run("check", *model, "--no-trust-env") == 0
    assert "journal" not in capsys.readouterr().out
    assert await run("check", *model, *model, "--metrics", "127.0.0.1:0") == 2
    assert capsys.readouterr().err == "turnwire-agent check: an agent has one model\n"


async def test_an_agent_that_is_well_for_others_than_this_machine_opens_no_port(
    capsys: Captured,
) -> None:
    write("token", "canary")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        flags = ("--model", "ollama:tiny", "--listen", f"127.0.0.1:{port}", "--metrics")
        assert await run("check", *flags, f"127.0.0.1:{port}") == 0
    assert await run("check", *flags[:2], "--listen", "0.0.0.0:0", "--token-file", "token") == 0
    assert await run("check", *flags[:2], "--listen", "0.0.0.0:0") == 2
    assert "others than this machine reach 0.0.0.0:0" in capsys.readouterr().err


async def test_a_journal_that_is_there_is_opened(capsys: Captured) -> None:
    await keep(Path("kept.db"))
    write("other.db", "no database, but a text that is longer than a header of one" * 9)
    write("agent.toml", 'model = "ollama:tiny"\n')

    assert await run("check", "agent.toml", "--journal", "sqlite:kept.db") == 0
    assert "journal: reachable\n" in capsys.readouterr().out
    assert await run("check", "agent.toml", "--journal", "sqlite:other.db") == 1
    assert "journal: The journal other.db cannot be used" in capsys.readouterr().err


async def test_an_agent_with_a_driver_of_its_own_has_no_model(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    write(
        "driven.py",
        "from turnwire_agent import Agent\nagent = Agent(driver=object(), journal='memory')\n",
    )

    assert await run("check", "driven:agent") == 0
    assert capsys.readouterr().out == "journal: in memory: sessions end with the process\n"


async def test_a_trial_asks_the_model_of_the_agent(capsys: Captured) -> None:
    write("agent.toml", 'model = "local:tiny"\nshape = "chat"\njournal = "memory"\n')
    refused = sends(response(401, {"error": "no"}))
    async with ScriptedServer([sends(STREAM_HEAD + ANSWER), refused]) as server:
        flags = ("agent.toml", "--base-url", server.url, "--try")
        assert await run("check", *flags) == 0
        assert "local:tiny: answers (stop)" in capsys.readouterr().out
        assert await run("check", *flags) == 1
        assert "local:tiny: unauthorized (401): no" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("agent.toml",), "agent.toml: No such file or directory"),
        (("agent",), "'agent' is neither FILE.toml nor MODULE:NAME"),
        (("json:dumps",), "json:dumps is no turnwire_agent.Agent"),
        (("json:nothing",), "the module has no 'nothing'"),
        (("broken:agent",), "broken:agent: ZeroDivisionError: division by zero ("),
        (
            ("open:agent",),
            "open:agent: SyntaxError: '(' was never closed ({folder}/open.py, line 2)",
        ),
        (("opens:agent",), "SyntaxError: '(' was never closed ({folder}/open.py, line 2)"),
        (("lacks:agent",), "lacks:agent: No module named 'no_such' ({folder}/lacks.py, line 1)"),
        (("odd_one:agent",), "odd_one:agent: SyntaxError: mine ({folder}/odd_one.py, line 1)"),
        (("unfit:agent",), "shape: one of chat, messages"),
        (("plain.toml",), "an agent needs a model"),
        (("plain.toml", "--model", "a:b", "--model", "c:d"), "an agent has one model"),
        (("plain.toml", "--model", "ollama:x", "--tool", "runtime.cli.offered:SHIP"), "no 'SHIP'"),
        (
            ("named.toml", "--model", "ollama:x"),
            "API 'a': the address of an API is http:// or https://",
        ),
    ],
)
async def test_settings_that_do_not_fit_are_one_line_and_exit_code_2(
    folder: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    write("broken.py", "1 / 0\n")
    write("open.py", "\nagent = (\n")
    write("opens.py", "import open\n")
    write("lacks.py", "import no_such\n")
    write("odd_one.py", "raise SyntaxError('mine')\n")
    write("unfit.py", "from turnwire_agent import Agent\nagent = Agent(shape='soap')\n")
    write("plain.toml", 'journal = "memory"\n')
    write("shop.json", json.dumps(SHOP))
    write("named.toml", '[openapi.a]\ndocument = "shop.json"\naddress = "a"\n')

    assert await run("check", *arguments) == 2
    errors = capsys.readouterr().err
    assert words.replace("{folder}", str(folder)) in errors
    assert errors.startswith("turnwire-agent check: ")
    assert errors.count("\n") == 1
