"""Records the agents of examples/agents anew: their bodies, and what others make of them.

    PYTHONPATH=tests .venv/bin/python -m agents.record [pydantic-ai ...]

Beside each body stands a JSON file: the request, what the reference client of AG-UI made of the
body, and what a third party's validator finds wrong with it.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import httpx

from agents.normal import Normal, results_in_order
from agents.scenarios import BAD_BODY, FOLLOWED, PROMPTS, Json, applies, first_request
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import ENVIRONMENTS, FRAMEWORKS

GOLDEN: Final = Path(__file__).parents[1] / "golden" / "ag-ui"
READER: Final = Path(__file__).parent / "reference" / "read.mjs"
VALIDATOR: Final = ENVIRONMENTS / "reference" / "bin" / "python"
VALIDATE: Final = "import sys; from ag_ui_validate.cli import main; sys.exit(main())"
EVENTS: Final = "text/event-stream"
LIMIT_S: Final = 60
MOST_BYTES: Final = 100_000


class Recorder:
    """One framework's recordings, made one after the other."""

    def __init__(self, name: str, url: str) -> None:
        self._name = name
        self._url = url

    async def record(self) -> None:
        for scenario, prompt in PROMPTS.items():
            if applies(self._name, scenario):
                await self._first(scenario, prompt, Normal(), keeps=True)
        for scenario, (before, answers) in FOLLOWED.items():
            if not applies(self._name, scenario):
                continue
            normal = Normal()
            request, opinion = await self._first(scenario, PROMPTS[before], normal, keeps=False)
            messages = [*request["messages"], *opinion["messages"]]
            more = answers(self._name, opinion["interrupts"], messages)
            resumed = {**request, "runId": "run-2", "messages": messages, **more}
            await self._run(scenario, resumed, opinion["interrupts"], normal, keeps=True)
        await self._run(BAD_BODY, {"threadId": BAD_BODY}, [], Normal(), keeps=True)

    async def _first(
        self, scenario: str, prompt: str, normal: Normal, *, keeps: bool
    ) -> tuple[Json, Json]:
        request = first_request(scenario, prompt)
        return request, await self._run(scenario, request, [], normal, keeps=keeps)

    async def _run(
        self,
        scenario: str,
        request: Json,
        interrupts: Sequence[Json],
        normal: Normal,
        *,
        keeps: bool,
    ) -> Json:
        """Ask the agent, and keep what it answers if this is what is to be recorded."""
        run = {"request": request, "interrupts": interrupts, **await ask(self._url, request)}
        opinion = read(run)
        body = normal.text(results_in_order(run.pop("body")))
        if keeps:
            path = GOLDEN / f"{self._name}-{scenario}.body"
            path.write_text(body, encoding="utf-8")
            about = {**run, "client": opinion, "validator": findings(path)}
            text = normal.text(json.dumps(about, indent=2, ensure_ascii=False)) + "\n"
            path.with_suffix(".json").write_text(text, encoding="utf-8")
            size = len(body.encode())
            print(f"{path.stem:40} {size:7}", "TOO LARGE" if size > MOST_BYTES else "")  # noqa: T201
        return opinion


async def ask(url: str, request: Json, key: str = "") -> Json:
    """What the agent answers; `cut` if its body broke off."""
    headers = {"accept": EVENTS} | ({"authorization": f"Bearer {key}"} if key else {})
    body, cut = b"", False
    async with (
        httpx.AsyncClient(trust_env=False, timeout=LIMIT_S) as client,
        client.stream("POST", url, json=request, headers=headers) as response,
    ):
        try:
            async for data in response.aiter_raw():
                body += data
        except httpx.RemoteProtocolError:
            cut = True
    return {
        "status": response.status_code,
        "contentType": response.headers.get("content-type", ""),
        "cut": cut,
        "body": body.decode(),
    }


def read(run: Json) -> Json:
    """What the reference client makes of a run."""
    ran = subprocess.run(
        ["node", READER], input=json.dumps([run]), capture_output=True, text=True, check=True
    )
    opinion: Json
    (opinion,) = json.loads(ran.stdout)
    return opinion


def findings(body: Path) -> list[str]:
    """What the validator finds wrong with a body."""
    with tempfile.TemporaryDirectory() as folder:
        # It reads a recording by its name.
        stream = Path(folder) / "recorded.sse"
        stream.write_bytes(body.read_bytes())
        ran = subprocess.run(
            [VALIDATOR, "-c", VALIDATE, "--json", stream],
            capture_output=True,
            text=True,
            check=False,
        )
    found = json.loads(ran.stdout)["diagnostics"]
    return [f"{each['rule']}: {each['message']}" for each in found if each["severity"] != "info"]


async def main(names: Sequence[str]) -> None:
    GOLDEN.mkdir(exist_ok=True)
    for name in names or FRAMEWORKS:
        async with FrameworkAgent(name) as agent:
            await Recorder(name, agent.url).record()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
