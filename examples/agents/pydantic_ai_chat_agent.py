"""A pydantic-ai agent that answers `useChat`: `uvicorn pydantic_ai_chat_agent:app --port 8000`.

It is the agent of `pydantic_ai_agent.py`, with pydantic-ai's own adapter for the AI SDK. At
`/defaults` the adapter speaks as it does if nobody says for which release of the AI SDK: it asks
for no approvals then.
"""

from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pydantic_ai_agent import agent


async def chat(request: Request) -> Response:
    return await VercelAIAdapter.dispatch_request(request, agent=agent, sdk_version=6)


async def defaults(request: Request) -> Response:
    return await VercelAIAdapter.dispatch_request(request, agent=agent)


app = Starlette(
    routes=[
        Route("/", chat, methods=["POST"]),
        Route("/defaults", defaults, methods=["POST"]),
    ]
)
