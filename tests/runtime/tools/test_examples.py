"""The examples of docs/agent-tools.md are run as they are, and print what the page says."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Final

import pytest

from runtime.llm.scripted_server import ScriptedServer, response, sends

pytestmark = pytest.mark.sockets
ROOT: Final = Path(__file__).parents[3]
EXAMPLES: Final = ROOT / "examples/tools"
PAGE: Final = (ROOT / "docs/agent-tools.md").read_text()
FAULTY: Final = ROOT / "tests/runtime/mcp/faulty_server.py"


def printed(name: str) -> str:
    """What the page says that an example prints."""
    (block,) = re.findall(rf"<!-- printed: {name} -->\n\n((?: {{4}}.*\n)+)", PAGE)
    return "".join(line[4:] for line in block.splitlines(keepends=True))


async def run(name: str, **variables: str) -> str:
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, EXAMPLES / f"{name}.py"),
        env=variables,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await program.communicate()
    assert b"Traceback" not in errors
    return out.decode()


async def test_functions_and_operations() -> None:
    assert await run("functions") == printed("functions")


async def test_keys_and_epochs() -> None:
    assert await run("keys") == printed("keys")


async def test_a_question() -> None:
    assert await run("ask") == printed("ask")


async def test_an_mcp_server(tmp_path: Path) -> None:
    ran = await run(
        "mcp_server",
        SHOP_COMMAND=sys.executable,
        SHOP_ARGUMENTS=f"{FAULTY} {tmp_path / 'journal'} {{}}",
    )

    assert ran.startswith("shop.echo (once): \nshop.hang (once): \n")


async def test_an_mcp_server_that_is_not_there() -> None:
    ran = await run("mcp_server", SHOP_COMMAND="/no/such/program")

    assert ran == (
        "shop: the server is not connected: its program cannot be started: "
        "No such file or directory\n"
    )


async def test_an_openapi_document() -> None:
    order = {"id": "o 7", "state": "paid"}
    answer = response(200, order, content_type="application/json")
    async with ScriptedServer([sends(answer)]) as server:
        ran = await run("openapi_document", SHOP_URL=server.url, SHOP_TOKEN="canary-token")

    assert ran == printed("openapi_document")
    (asked,) = server.asked
    assert asked.line == "GET /v1/orders/o%207 HTTP/1.1"
    assert asked.headers["authorization"] == "Bearer canary-token"


async def test_an_openapi_document_without_its_key_is_one_line() -> None:
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, EXAMPLES / "openapi_document.py"),
        env={},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await program.communicate()

    assert (program.returncode, out) == (2, b"")
    assert errors == b"openapi_document: No key: the variable SHOP_TOKEN is not set.\n"


def test_each_example_stands_on_the_page() -> None:
    shown = set(re.findall(r"literalinclude\} \.\./examples/tools/(\w+\.py)", PAGE))

    assert shown == {path.name for path in EXAMPLES.glob("*.py")}
