from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from turnwire_agent import Agent, Api, HostSettings, Limits, McpServer, SettingsError
from turnwire_agent.settings import FILE_MAX, from_file, from_values


def test_a_file_has_all_that_an_agent_is(tmp_path: Path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(
        'model = "a:b"\ntools = ["m:f"]\ntrust_env = true\n[limits]\nsteps = 3\n'
        '[host]\nlease_s = 2\n[mcp.files]\ncommand = "x"\narguments = ["y"]\n'
        '[openapi.shop]\ndocument = "d.json"\naddress = "https://a"\nonly = ["orders"]\n'
    )

    assert from_file(path) == Agent(
        model="a:b",
        tools=("m:f",),
        trust_env=True,
        limits=Limits(steps=3),
        host=HostSettings(lease_s=2.0),
        mcp={"files": McpServer(command="x", arguments=("y",))},
        openapi={"shop": Api(document="d.json", address="https://a", only=("orders",))},
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model = 5", "model: expected a string, got an integer"),
        ('modle = "x"', "modle: there is no such setting; did you mean model?"),
        ("model = ", "Invalid value (at end of document)"),
        ("driver = 1", "driver can be given in Python alone"),
        ("tools = [1]", "tools: a tool is MODULE:NAME"),
        ("[limits]\nsteps = 0", "limits.steps: at least 1"),
        ("[limits]\nstps = 3", "limits.stps: there is no such setting; did you mean steps?"),
        ("[host]\nlease = 'x'", "host.lease: there is no such setting; did you mean lease_s?"),
        ("mcp = 5", "mcp: expected a table, got an integer"),
        ("[host]\nlease_s = 0", "host.lease_s: more than 0"),
        ("[host]\nlease_s = nan", "host.lease_s: more than 0"),
        ("[mcp.a]", "mcp.a: an MCP server has a command, or a url"),
        ('[mcp.a]\ncommand = "a"\nurl = "b"', "an MCP server has a command, or a url"),
        ('[mcp.a]\ncommand = "a"\nkey_file = "b"', "a key_file is for the url of an MCP server"),
        (
            '[mcp.a]\ncommand = "a"\napproval = "maybe"',
            "mcp.a.approval: 'maybe' is none of never, always",
        ),
        ('[mcp."a b"]\ncommand = "a"', "'a b': a name has 1 to 32 letters, digits, _ and -"),
        ('[openapi.a]\ndocument = "d"', "openapi.a.address: must be given"),
        (
            '[openapi.a]\ndocument = "d"\naddress = "a"\nkey_file = "k"\nkey_variable = "K"',
            "the key of an API is in key_file, or in key_variable",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(text)

    with pytest.raises(SettingsError) as raised:
        from_file(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.toml: No such file or directory"):
        from_file(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'model = "\xe9"')
    with pytest.raises(SettingsError, match=r"latin\.toml: 'utf-8' codec"):
        from_file(tmp_path / "latin.toml")
    (tmp_path / "long.toml").write_bytes(b"#" * (FILE_MAX + 1))
    with pytest.raises(SettingsError, match=f"is longer than {FILE_MAX} bytes"):
        from_file(tmp_path / "long.toml")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tools": "m:f"}, "tools: a list of tools"),
        ({"tools": 5}, "tools: a list of tools"),
        ({"shape": "soap"}, "shape: one of chat, messages, responses, google"),
        ({"window": 0}, "window: at least 1"),
        ({"journal": "redis:x"}, "journal: memory, sqlite:PATH or postgresql://HOST/DATABASE"),
        ({"journal": "sqlite:"}, "journal: memory, sqlite:PATH or postgresql://HOST/DATABASE"),
        ({"key_file": "a", "key_variable": "b"}, "in key_file, or in key_variable"),
        ({"token_file": "a", "token_jwks": "b"}, "by token_file, or by token_jwks"),
        ({"token_leeway_s": 301.0}, "token_leeway_s: 0 to 300"),
        ({"openapi": {"a.b": Api(document="d", address="a")}}, "'a.b': a name has 1 to 32"),
    ],
)
def test_an_object_that_does_not_fit_is_refused_as_it_is_made(
    fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(SettingsError, match=words):
        Agent(**fields)
    with pytest.raises(SettingsError, match=words):
        structs.replace(Agent(), **fields)


def test_texts_are_numbers_where_numbers_are_meant() -> None:
    agent = from_values({"window": "5", "trust_env": "true"}, "here")

    assert (agent.window, agent.trust_env) == (5, True)


def test_the_words_of_an_error_have_no_password() -> None:
    with pytest.raises(SettingsError) as raised:
        from_values({"journal": "mysql://me:canary@a/b"}, "here")
    assert "canary" not in str(raised.value)


@pytest.mark.parametrize(
    "given",
    [
        {"model": "local:tiny", "driver": object()},
        {"model": "local:tiny", "answers": object()},
        {"driver": object(), "answers": object()},
    ],
)
def test_one_thing_gives_the_answers(given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="one of model, answers and driver"):
        Agent(**given)
