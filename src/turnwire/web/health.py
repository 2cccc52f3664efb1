"""The endpoints `/healthz` (live) and `/readyz` (ready)."""

import time

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response


class Health:
    """`/healthz` says that the process answers; `/readyz` says that it accepts new streams."""

    def __init__(self) -> None:
        self.is_ready = True
        self._stopping_since: float | None = None

    @property
    def stopping_s(self) -> float:
        """Seconds since `stop`; 0 before."""
        since = self._stopping_since
        return 0.0 if since is None else time.monotonic() - since

    def stop(self) -> None:
        """Report from now on that the process accepts no new streams."""
        self.is_ready = False
        self._stopping_since = time.monotonic()

    async def live(self, _: Request) -> Response:
        return _plain("ok", 200)

    async def ready(self, _: Request) -> Response:
        return _plain("ready", 200) if self.is_ready else _plain("stopping", 503)


def _plain(text: str, status: int) -> Response:
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return PlainTextResponse(f"{text}\n", status, headers)
