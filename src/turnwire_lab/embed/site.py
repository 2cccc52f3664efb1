"""The site: a page, the widget's script, and the route that hands its visitors a token.

It listens on loopback, on an origin that is neither the gateway's nor the demo page's. Its policy
is as strict as one can be around the widget, so that the demo shows what a host page must allow.
"""

import base64
import hashlib
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
LOOKS: Final = """
:root { color-scheme: light dark; }
body {
  margin: 0;
  background: light-dark(#fbfaf7, #161819);
  color: light-dark(#1f2423, #e8e9e6);
  font: 1rem / 1.6 ui-sans-serif, system-ui, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif;
}
header { padding: 1rem max(1.5rem, calc(50% - 34rem)); font-weight: 650; }
header, footer { background: light-dark(#f3f1ec, #1c1f20); }
main { max-width: 40rem; padding: 3rem 1.5rem 2rem max(1.5rem, calc(50vw - 34rem)); }
h1 { margin: 0 0 1rem; font-size: 2.2rem; line-height: 1.15; letter-spacing: -0.02em; }
h2 { margin: 2.5rem 0 0.5rem; font-size: 1.15rem; }
p, li { color: light-dark(#4c5250, #b4bab7); }
a { color: light-dark(#1f6660, #7cc8bf); }
code { overflow-wrap: anywhere; font-size: 0.9em; }
pre {
  overflow-x: auto;
  padding: 1rem;
  border-radius: 12px;
  background: light-dark(#f3f1ec, #1c1f20);
  font-size: 0.85rem;
}
footer { padding: 1rem max(1.5rem, calc(50% - 34rem)) 5.5rem; font-size: 0.85rem; }
"""
"""The style of the page, not of the widget, which brings its own."""
STRICT: Final = (
    "default-src 'none'; script-src 'self'; style-src 'sha256-{looks}'; "
    "connect-src 'self' {gateway}; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
"""Of styles, the page's own alone: the widget's need no leave."""
SUGGESTIONS: Final = (
    "what is 12*7?",
    "search for keepalive",
    "ask me: tea or coffee?",
    "tell me a long story",
)
PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A site with the widget</title>
<style>{looks}</style>
{head}
<script defer src="/widget.js" {attributes}></script>
</head>
<body>
<header>A site with the widget</header>
<main>
<h1>A chat on any page, with one line</h1>
<p>This page comes from another origin than the gateway. The round button in the corner opens the
chat: the same agent as on the demo's own page, with an answer that goes on after a reload.</p>
<h2>The line</h2>
<pre tabindex="0" role="group" aria-label="The line"><code>{line}</code></pre>
<h2>What to try</h2>
<ul>
<li>Ask something, and load the page again in the middle of the answer.</li>
<li>Close the panel while it answers: a dot on the button says when the answer is whole.</li>
<li>Use it by keyboard alone, or in a window as narrow as a phone.</li>
</ul>
<p><a href="#top">A link of the page</a></p>
</main>
<footer>The policy of this page forbids every style but its own, and every script but the widget's
file: the widget needs no more.</footer>
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
            "suggestions": "|".join(SUGGESTIONS),
            **attributes,
        }
        escaped = {name: html.escape(text) for name, text in attributes.items()}
        written = " ".join(f'data-{name}="{text}"' for name, text in escaped.items())
        line = html.escape(f'<script defer src="/widget.js"\n  {_in_lines(attributes)}></script>')
        return PAGE.format(head=head, attributes=written, looks=LOOKS, line=line)

    def headers(self) -> Mapping[str, str]:
        return {
            "content-security-policy": STRICT.format(gateway=self.gateway_url, looks=_hash(LOOKS)),
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
        }

    async def _script(self, _: Request) -> Response:
        return FileResponse(self._built, headers={"cache-control": "no-cache"})

    async def _nothing(self, _: Request) -> Response:
        return Response(status_code=204)


def _hash(style: str) -> str:
    """What a policy calls an inline style by."""
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def _in_lines(attributes: Mapping[str, str]) -> str:
    return "\n  ".join(f'data-{name}="{text}"' for name, text in attributes.items())
