"""The routes below a session, each with a good request."""

from typing import Final, NamedTuple

import httpx

from gateway.clients import Json, ask


class Route(NamedTuple):
    name: str
    method: str
    path: str
    """Below the session."""
    body: Json | None = None
    prompts: bool = False
    """A viewer may not."""

    async def call(
        self,
        client: httpx.AsyncClient,
        url: str,
        headers: dict[str, str],
        *,
        session: str = "s1",
        params: dict[str, str] | None = None,
    ) -> httpx.Response:
        return await client.request(
            self.method,
            f"{url}/api/sessions/{session}/{self.path}",
            json=self.body,
            headers=headers,
            params=params,
        )


CHAT: Final = Route("chat", "POST", "chat", ask("the-secret-prompt"), prompts=True)
RESUME: Final = Route("resume", "GET", "chat/chat-1/stream")
STOP: Final = Route("stop", "POST", "stop", {"turnId": "the-secret-turn"}, prompts=True)
ANSWER: Final = Route(
    "answer", "POST", "answer", {"questionId": "q1", "answer": "the-secret-answer"}, prompts=True
)
MESSAGES: Final = Route("messages", "GET", "messages")
ROUTES: Final = (CHAT, RESUME, STOP, ANSWER, MESSAGES)
PLAIN: Final = ("/healthz", "/readyz", "/openapi.json")
