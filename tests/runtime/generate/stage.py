"""Scripted providers and the server before them, for the tests of clients/model.

The first line on standard output is `{"url": …, "token": …, "provider": …}`. Each line on standard
input is a command, and is answered by a line:

- `["answers", answer, …]`: requests are answered so, any more as the last one. An answer has
  `status`, `body` (text), and `silent` if nothing follows and the connection stays.
- `["asked"]`: the bodies of all requests since then, as text.
- `["hung up"]`: once a connection to the provider was closed by the server: how long it took, in
  milliseconds from the command on.

It ends when standard input does.
"""

import asyncio
import json
import logging
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from runtime.generate.served import model, serving
from runtime.llm.scripted_server import (
    EVENT_STREAM,
    Script,
    ScriptedServer,
    head,
    sends,
    sends_then_silent,
)

TOKEN = "canary-token"
HANG_UP_S = 5.0


def script(answer: dict[str, Any]) -> Script:
    data = head(answer.get("status", 200), EVENT_STREAM) + answer["body"].encode()
    return sends_then_silent(data) if answer.get("silent") else sends(data)


async def obey(provider: ScriptedServer, command: list[Any]) -> object:
    match command:
        case ["answers", *answers]:
            provider.scripts[:] = map(script, answers)
            provider.asked.clear()
            provider.hung_up.clear()
            return True
        case ["asked"]:
            return [each.body.decode() for each in provider.asked]
        case ["hung up"]:
            began = time.monotonic()
            async with asyncio.timeout(HANG_UP_S):
                await provider.hung_up.wait()
            return (time.monotonic() - began) * 1000
        case _:
            raise ValueError(command)


async def main() -> None:
    logging.getLogger("turnwire_agent").addHandler(logging.NullHandler())  # it is not shown
    with TemporaryDirectory() as folder:
        token = Path(folder) / "token"
        token.write_text(TOKEN)
        async with (
            ScriptedServer([]) as provider,
            serving(model(provider.url), model(provider.url, "messages"), token=token) as program,
        ):
            url = f"http://127.0.0.1:{program.port}"
            tell({"url": url, "token": TOKEN, "provider": provider.url})
            while line := await asyncio.to_thread(sys.stdin.readline):
                tell(await obey(provider, json.loads(line)))


def tell(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
