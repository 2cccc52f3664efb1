"""`turnwire_agent` has the names that programs use, and loads them on demand."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import turnwire_agent

STUB: Final = Path(turnwire_agent.__file__).with_suffix(".pyi")


def stubbed() -> dict[str, str]:
    """Each name that type checkers know, and its module."""
    return {
        alias.name: node.module
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def test_type_checkers_know_the_names_that_there_are() -> None:
    assert sorted(stubbed()) == sorted(turnwire_agent.__all__)


def test_each_name_is_that_of_its_module() -> None:
    for name, module in stubbed().items():
        assert getattr(turnwire_agent, name) is getattr(sys.modules[module], name)


def test_another_name_is_none() -> None:
    with pytest.raises(AttributeError, match="'turnwire_agent' has no attribute 'agent'"):
        _ = turnwire_agent.agent  # type: ignore[attr-defined]


def test_they_are_listed() -> None:
    assert {"Agent", "tool", "serve", "__version__"} <= set(dir(turnwire_agent))


def test_an_agent_and_its_tools_need_no_server_and_no_extra() -> None:
    code = "import sys; from turnwire_agent import Agent, tool, Effect; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in ran.stdout.split()}

    servers = {"httpx", "websockets", "starlette", "uvicorn", "prometheus_client"}
    assert loaded & (servers | {"mcp", "psycopg", "jwt", "cryptography"}) == set()
