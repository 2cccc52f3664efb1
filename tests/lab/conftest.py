"""A scripted gateway for the chat: it says what it was given, over a real socket."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class ScriptedGateway(ThreadingHTTPServer):
    """Answers every POST the same way, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Reply)
        self.status = 200
        self.headers = {"content-type": "text/event-stream"}
        self.body = b""
        self.hold = False
        """Whether the line stays open after the body, until the client hangs up."""
        self.asked: list[tuple[str, str | None, Any]] = []
        self.hung_up = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def say(self, *chunks: dict[str, Any], done: bool = True) -> None:
        records = [f"event: {chunk['type']}\ndata: {json.dumps(chunk)}\n\n" for chunk in chunks]
        ending = "data: [DONE]\n\n" if done else ""
        self.body = (": keepalive\n\n" + "".join(records) + ending).encode()


class Reply(BaseHTTPRequestHandler):
    server: ScriptedGateway

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, self.headers["authorization"], body))
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.server.body)
        self.wfile.flush()
        if self.server.hold:
            self.rfile.read(1)  # returns when the client is gone
            self.server.hung_up.set()
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Tests speak for themselves."""


@pytest.fixture
def gateway() -> Iterator[ScriptedGateway]:
    with ScriptedGateway() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
