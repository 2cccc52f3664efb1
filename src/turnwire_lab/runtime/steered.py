"""The server between the runtime and a very small model: `steering` over HTTP, on loopback."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, Final

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from turnwire_lab.process import HOST
from turnwire_lab.runtime.steering import as_call, steered
from turnwire_lab.service import Service, listener, serving

_DATA: Final = "data: "
_SILENCE_S: Final = 120.0
"""A small model on a busy machine takes its time before its first token."""


class SteeredModel(Service):
    """`async with SteeredModel(url) as model:` answers Chat Completions at `model.url`."""

    def __init__(self, model_url: str) -> None:
        self._model_url = model_url
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}/v1"

    async def _start(self, stack: AsyncExitStack) -> None:
        self._http = await stack.enter_async_context(
            httpx.AsyncClient(timeout=_SILENCE_S, trust_env=False)
        )
        listening = listener(0)
        self._port = listening.getsockname()[1]
        routes = [Route("/v1/chat/completions", self._complete, methods=["POST"])]
        await stack.enter_async_context(serving(Starlette(routes=routes), listening))

    async def _complete(self, request: Request) -> Response:
        body, tool = steered(await request.json())
        asked = self._http.build_request("POST", f"{self._model_url}/chat/completions", json=body)
        try:
            answer = await self._http.send(asked, stream=True)
        except httpx.TransportError:
            return JSONResponse({"error": {"message": "The model is not there."}}, 503)
        if answer.is_error:
            refusal = await answer.aread()
            await answer.aclose()
            return Response(refusal, answer.status_code, media_type="application/json")
        return StreamingResponse(_events(answer, tool), media_type="text/event-stream")


async def _events(answer: httpx.Response, tool: str | None) -> AsyncIterator[str]:
    """The events of an answer as they come; where a tool was chosen, its text as a call of it."""
    first = True
    try:
        async for line in answer.aiter_lines():
            if not line.startswith(_DATA):
                continue
            if tool is not None and line.startswith(f"{_DATA}{{"):
                chunk: dict[str, Any] = json.loads(line.removeprefix(_DATA))
                line = f"{_DATA}{json.dumps(as_call(chunk, tool, first=first))}"  # noqa: PLW2901
                first = first and not chunk.get("choices")
            yield f"{line}\n\n"
    finally:
        await answer.aclose()
