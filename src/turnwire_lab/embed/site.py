"""The site: a page, the widget's script, and the route that hands its visitors a token.

It listens on loopback, on an origin that is neither the gateway's nor the demo page's. Its policy
is as strict as one can be around the widget, so that the demo shows what a host page must allow.
"""

import html
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from turnwire_lab.process import HOST
from turnwire_lab.service import Service, listener, serving

BUILT: Final = Path(__file__).parents[1] / "widget" / "dist" / "widget.js"
"""Where Vite puts the script."""
STRICT: Final = (
    "default-src 'none'; script-src 'self'; connect-src 'self' {gateway}; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A site with the widget</title>
{head}
<script defer src="/widget.js" {attributes}></script>
</head>
<body>
<main>
<h1>A site with the widget</h1>
<p>This page comes from another origin than the gateway. The button below opens the chat.</p>
<p><a href="#top">A link of the page</a></p>
</main>
</body>
</html>
"""


class Site(Service):
    """Listens from the start, so that the gateway can get its origin; `async with` serves."""

    def __init__(self, port: int = 0, built: Path = BUILT) -> None:
        self._listener = listener(port)
        self.origin = f"http://{HOST}:{self._listener.getsockname()[1]}"
        self._built = built

    def close(self) -> None:
        self._listener.close()

    def tell(self, *, gateway_url: str, session: str, token: str) -> None:
        """Set what the page connects to; before it is served."""
        self.gateway_url = gateway_url
        self.session = session
        self.token = token

    async def _start(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(serving(self._app(), self._listener))

    def _app(self) -> Starlette:
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST], www_redirect=False)
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/widget.js", self._script),
                Route("/token", self.hand_token),
                Route("/favicon.ico", self._nothing),
            ],
            middleware=[hosts],
        )

    async def page(self, _: Request) -> Response:
        return HTMLResponse(self.written(), headers=self.headers())

    async def hand_token(self, _: Request) -> Response:
        """What a product would do for the user of its own cookie."""
        return JSONResponse({"token": self.token}, headers={"cache-control": "no-store"})

    def written(self, head: str = "", **attributes: str) -> str:
        """The page; attributes are the widget's, without `data-`."""
        attributes = {
            "url": self.gateway_url,
            "session": self.session,
            "token-url": "/token",
            "title": "Ask the demo",
            **attributes,
        }
        escaped = {name: html.escape(text) for name, text in attributes.items()}
        written = " ".join(f'data-{name}="{text}"' for name, text in escaped.items())
        return PAGE.format(head=head, attributes=written)

    def headers(self) -> Mapping[str, str]:
        return {
            "content-security-policy": STRICT.format(gateway=self.gateway_url),
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
        }

    async def _script(self, _: Request) -> Response:
        return FileResponse(self._built, headers={"cache-control": "no-cache"})

    async def _nothing(self, _: Request) -> Response:
        return Response(status_code=204)
