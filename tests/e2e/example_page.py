"""A page that has one component of docs/examples alone: how it is built, served and used."""

import functools
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from playwright.async_api import Browser, ConsoleMessage, Page, Request, Response, expect

from gateway.needed import lacking
from gateway.running import Gateway
from gateway.tokens import token
from turnwire_lab.page.serving import BUILT
from turnwire_lab.process import free_port

ROOT: Final = Path(__file__).parents[2]
AGENT_TOKEN: Final = "known-to-the-gateway-alone"
START_S: Final = 60.0
"""A busy machine takes its time."""
MODULES: Final = BUILT.parent / "node_modules"
LEFT: Final = "net::ERR_ABORTED"
"""How a request ends whose page was loaded again."""
REACT: Final = ("react", "react-dom", "scheduler")
MAIN: Final = """import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Chat } from "./EXAMPLE";
const { hasHistory, ...given } = Object.fromEntries(new URLSearchParams(location.search));
const props = given as { gateway: string; session: string; token: string };
const root = createRoot(document.getElementById("app")!);
root.render(<StrictMode><Chat {...props} hasHistory={hasHistory === "yes"} /></StrictMode>);
"""
# Links are not followed: the client and the page then have one React.
BUILD: Final = """export default {
  input: "main.tsx", resolve: { symlinks: false }, output: { file: "bundle.js" },
  transform: { define: { "process.env.NODE_ENV": '"MODE"' } },
};
"""
CHECKED: Final = {
    "strict": True,
    "noUncheckedIndexedAccess": True,
    "noUnusedLocals": True,
    "jsx": "react-jsx",
    "target": "ES2023",
    "module": "ESNext",
    "moduleResolution": "Bundler",
    "skipLibCheck": True,
    "allowImportingTsExtensions": True,
    "preserveSymlinks": True,
    "noEmit": True,
    "types": ["react"],
}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write no line for each request."""


def node(folder: Path, script: str, *arguments: str) -> None:
    ran = subprocess.run(
        ["node", folder / "node_modules" / script, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@contextmanager
def served(
    release: str, folder: Path, example: str = "chat.tsx", mode: str = "development"
) -> Iterator[str]:
    """Build the page in an empty folder, with a release of the client; its origin.

    In the `mode` of a development server, React's StrictMode mounts each component twice.
    """
    clients = ROOT / "tests" / "clients" / f"v{release}" / "node_modules"
    (clients / "ai").is_dir() or lacking("the clients are not installed (`make node` does it)")
    (folder / "node_modules" / "@types").mkdir(parents=True)
    for name in (each.name for each in clients.iterdir() if each.name not in REACT):
        (folder / "node_modules" / name).symlink_to(clients / name)
    for name in (*REACT, "typescript", "rolldown", "@typescript", "csstype"):
        (folder / "node_modules" / name).symlink_to(MODULES / name)
    for name in ("react", "react-dom"):
        (folder / "node_modules/@types" / name).symlink_to(MODULES / "@types" / name)
    shutil.copy(ROOT / "docs/examples" / example, folder)
    (folder / "main.tsx").write_text(MAIN.replace("EXAMPLE", example))
    (folder / "rolldown.config.mjs").write_text(BUILD.replace("MODE", mode))
    (folder / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": CHECKED, "files": ["main.tsx"]})
    )
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en"><title>Chat</title><link rel="icon" href="data:,"><body>'
        '<header><h1>Chat</h1></header><div id="app"></div>'
        '<script type="module" src="bundle.js"></script>'
    )
    node(folder, "typescript/bin/tsc", "-p", ".")
    node(folder, "rolldown/bin/cli.mjs", "-c", "rolldown.config.mjs")
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def until_it_listens(port: int) -> None:
    until = time.monotonic() + START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            assert time.monotonic() < until, "the agent does not listen"
            time.sleep(0.05)
        else:
            return


@contextmanager
def second_agent(**environ: str) -> Iterator[str]:
    """The URL of a second agent that runs, and asks before it deletes a file."""
    port = free_port()
    script = ROOT / "examples/agents/second_agent_asks.py"
    env = os.environ | {"AGENT_TOKEN": AGENT_TOKEN, "PORT": str(port)} | environ
    with subprocess.Popen([sys.executable, script], env=env) as process:
        try:
            until_it_listens(port)
            yield f"ws://127.0.0.1:{port}/{{session_id}}"
        finally:
            process.terminate()


def props(gateway: Gateway, *, has_history: bool) -> dict[str, str]:
    """What the page is given, with a session of its own."""
    return {
        "gateway": gateway.url,
        "session": uuid.uuid4().hex,
        "token": token("ann"),
        "hasHistory": "yes" if has_history else "no",
    }


@asynccontextmanager
async def opened(
    browser: Browser, site: str, gateway: Gateway, *, has_history: bool = True
) -> AsyncIterator[Page]:
    """The page, on a session of its own; at its end nothing may have gone wrong in the browser."""
    page = await browser.new_page()
    wrong = watched(page)
    await page.goto(f"{site}/?{urlencode(props(gateway, has_history=has_history))}")
    await expect(page.get_by_label("Message")).to_be_visible()
    yield page
    await page.close()
    assert wrong == []


def watched(page: Page) -> list[str]:
    """What goes wrong from now on: errors in the console, and requests that fail."""
    wrong: list[str] = []

    def console(line: ConsoleMessage) -> None:
        if line.type in {"error", "warning"}:
            wrong.append(line.text)

    def response(answer: Response) -> None:
        if answer.status >= HTTPStatus.BAD_REQUEST:
            wrong.append(f"{answer.status} {answer.url}")

    def failed(request: Request) -> None:
        if request.failure != LEFT:
            wrong.append(f"{request.failure} {request.url}")

    page.on("console", console)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("response", response)
    page.on("requestfailed", failed)
    return wrong


async def ask(page: Page, text: str) -> None:
    await page.get_by_label("Message").fill(text)
    await page.get_by_role("button", name="Send").click()
