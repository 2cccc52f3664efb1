"""Live, and ready."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response


class Health:
    """`/healthz` says that the process answers; `/readyz` that it wants new streams."""

    def __init__(self) -> None:
        self.is_ready = True

    async def live(self, _: Request) -> Response:
        return _plain("ok", 200)

    async def ready(self, _: Request) -> Response:
        return _plain("ready", 200) if self.is_ready else _plain("stopping", 503)


def _plain(text: str, status: int) -> Response:
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return PlainTextResponse(f"{text}\n", status, headers)
