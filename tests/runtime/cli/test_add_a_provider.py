"""The example of docs/models.md is run as it is, against a server that differs from its wire."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Final

from runtime.llm.call.called import ANSWER
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, response, sends

EXAMPLE: Final = Path(__file__).parents[3] / "examples/models/add_a_provider.py"


async def run(url: str) -> tuple[int | None, str, str]:
    environ = {"ACME_URL": url, "ACME_API_KEY": "canary-key"}
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        EXAMPLE,
        env=environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await program.communicate()
    return program.returncode, out.decode(), errors.decode()


async def test_the_example_speaks_to_a_provider_that_is_data() -> None:
    async with ScriptedServer([sends(STREAM_HEAD + ANSWER)]) as server:
        assert await run(server.url) == (0, "Hello (stop)\n", "")

    (asked,) = server.asked
    body = json.loads(asked.body)
    assert asked.headers["authorization"] == "Bearer canary-key"
    assert body["max_tokens"] == 100
    assert not {"max_completion_tokens", "stream_options"} & set(body)


async def test_what_goes_wrong_is_one_line_without_the_key() -> None:
    error = b'{"error": {"message": "No such model: canary-key"}}'
    async with ScriptedServer([sends(response(404, error))]) as server:
        code, _, errors = await run(server.url)

    assert code == 1
    assert errors.splitlines()[-1].startswith("not-found: No such model")
    assert "canary-key" not in errors
