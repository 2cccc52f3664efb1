"""The server of `POST /v1/generate` on loopback, before scripted providers."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from runtime.llm.call.called import Caller, Key
from turnwire_agent.access.access import Access, Tokens
from turnwire_agent.access.file_token import FileToken
from turnwire_agent.access.listening import listener
from turnwire_agent.generate import server
from turnwire_agent.generate.app import Served
from turnwire_agent.llm.call.http import http_client
from turnwire_agent.llm.credentials.key_file import KeyFile
from turnwire_agent.llm.model import Model, ShapeName

PROMPT = "canary-prompt-0123456789"
USER: dict[str, Any] = {"type": "user", "parts": [{"type": "text", "text": PROMPT}]}
PATH = "/v1/generate"


def model(url: str, shape: ShapeName = "chat") -> Model:
    return Model(provider="local", name="tiny", shape=shape, base_url=url)


def asked(**more: Any) -> dict[str, Any]:
    return {"model": "tiny", "transcript": [USER]} | more


@dataclass
class Program:
    """A program that asks."""

    client: httpx.AsyncClient
    port: int
    stop: Callable[[], None]

    async def post(self, body: object = None, **headers: str) -> httpx.Response:
        """Ask, and wait for the whole answer. `_` in a header's name is `-`."""
        content = body if isinstance(body, bytes) else json.dumps(body or asked()).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(
            PATH, content=content, headers={"content-type": "application/json"} | named
        )

    async def parts(self, **more: Any) -> list[dict[str, Any]]:
        response = await self.post(asked(**more))
        assert response.status_code == 200, response.text
        return read(response.text)


def read(text: str) -> list[dict[str, Any]]:
    """The parts of a body."""
    events = [each for each in text.split("\n\n") if each and not each.startswith(":")]
    return [json.loads(each.removeprefix("data: ")) for each in events]


def refused(response: httpx.Response) -> tuple[int, str]:
    error = response.json()["error"]
    assert error["status"] == response.status_code
    assert response.headers["content-type"] == "application/json"
    return response.status_code, error["message"]


@asynccontextmanager
async def serving(
    *models: Model,
    token: Path | None = None,
    tokens: Tokens | None = None,
    loopback: bool = True,
) -> AsyncIterator[Program]:
    """Serve models, the first one as `tiny`, the second as `deep`.

    Args:
        models: What is served.
        token: Has the token that is asked for.
        tokens: Or else what verifies tokens.
        loopback: Whether names of other hosts are refused.
    """
    names = ["tiny", "deep"][: len(models)]
    served = {name: Served(each, Key()) for name, each in zip(names, models, strict=True)}
    listening, _ = listener("127.0.0.1:0", has_token=False)
    port = listening.getsockname()[1]
    access = Access(loopback=loopback, tokens=FileToken(KeyFile(token)) if token else tokens)
    stopping = asyncio.Event()
    async with http_client() as own:
        running = asyncio.create_task(
            server.serve(served, listening, access, Caller(client=own).settings, stopping)
        )
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
                yield Program(client, port, stopping.set)
        finally:
            stopping.set()
            await running
