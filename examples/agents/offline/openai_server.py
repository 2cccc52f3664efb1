"""The offline model behind the API that most frameworks can be pointed at (Chat Completions).

`uvicorn offline.openai_server:app --port 9000`, and for the agent OPENAI_API_KEY=none and
OPENAI_BASE_URL=http://127.0.0.1:9000/v1.
"""

import json
import time
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from offline.script import Call, Said, Thought, answer

USAGE: Final = {"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19}


async def _complete(request: Request) -> Response:
    asked = await request.json()
    prompt, results, calls = "", [], 0
    for message in asked["messages"]:
        match message:
            case {"role": "user", "content": content}:
                prompt, results = _text(content), []
            case {"role": "tool", "content": content}:
                results.append(_text(content))
            case {"role": "assistant", "tool_calls": [*made]}:
                calls += len(made)
    if "make the turn fail" in prompt.lower() and not results:
        error = {"message": "the model is overloaded", "type": "server_error"}
        return JSONResponse({"error": error}, 400)
    said = answer(prompt, results, calls)
    if not asked.get("stream"):
        return JSONResponse(_whole([one async for one in said]))
    return StreamingResponse(_chunks(said), media_type="text/event-stream")


async def _chunks(said: AsyncIterator[Said]) -> AsyncIterator[str]:
    reason, index = "stop", 0
    yield _chunk({"role": "assistant", "content": ""})
    async for one in said:
        match one:
            case str():
                yield _chunk({"content": one})
            case Thought():
                yield _chunk({"reasoning_content": one.text})
            case Call():
                first, *rest = one.pieces
                begun = {"id": one.id, "type": "function"}
                function = {"name": one.tool, "arguments": first}
                yield _chunk({"tool_calls": [{**begun, "index": index, "function": function}]})
                for piece in rest:
                    call = {"index": index, "function": {"arguments": piece}}
                    yield _chunk({"tool_calls": [call]})
                reason, index = "tool_calls", index + 1
    yield _chunk({}, reason)
    yield _event({**_envelope("chat.completion.chunk"), "choices": [], "usage": USAGE})
    yield "data: [DONE]\n\n"


def _whole(said: list[Said]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant"}
    message["content"] = "".join(one for one in said if isinstance(one, str))
    calls = [one for one in said if isinstance(one, Call)]
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
            }
            for call in calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {**_envelope("chat.completion"), "choices": [choice], "usage": USAGE}


def _chunk(delta: dict[str, Any], reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return _event({**_envelope("chat.completion.chunk"), "choices": [choice]})


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": "offline"}


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, list):
        return " ".join(part.get("text", "") for part in content)
    return content or ""


app = Starlette(routes=[Route("/v1/chat/completions", _complete, methods=["POST"])])
