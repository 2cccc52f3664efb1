"""A scripted gateway for the chat: it says what it was given, over a real socket."""

import json
import select
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class ScriptedGateway(ThreadingHTTPServer):
    """Answers every turn the same way, the rest as it is scripted, and keeps what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Reply)
        self.status = 200
        self.headers = {"content-type": "text/event-stream"}
        self.body = b""
        self.hold = False
        """Whether the line stays open after the body, until the client hangs up or is stopped."""
        self.deaf = False
        """Whether a stop changes nothing."""
        self.rest = b""
        """What is said on a held line once somebody asks to stop."""
        self.others: dict[str, tuple[int, bytes]] = {}
        """Status and body of the other routes, by the last word of their path; 501 by default."""
        self.asked: list[tuple[str, str | None, Any]] = []
        self.hung_up = threading.Event()
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def say(self, *chunks: dict[str, Any], done: bool = True) -> None:
        self.body = b": keepalive\n\n" + records(*chunks, done=done)


def records(*chunks: dict[str, Any], done: bool = True) -> bytes:
    told = [f"event: {chunk['type']}\ndata: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return ("".join(told) + ("data: [DONE]\n\n" if done else "")).encode()


class Reply(BaseHTTPRequestHandler):
    server: ScriptedGateway

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, self.headers["authorization"], body))
        word = self._word()
        if word == "chat":
            self._stream()
        else:
            self._reply(word)
        if word in self.server.others and word == "stop" and not self.server.deaf:
            self.server.stopped.set()

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["authorization"], None))
        self._reply(self._word())

    def log_message(self, *_: object) -> None:
        """Tests speak for themselves."""

    def _word(self) -> str:
        return self.path.partition("?")[0].rpartition("/")[2]

    def _reply(self, word: str) -> None:
        status, body = self.server.others.get(word, (501, b""))
        self.send_response(status)
        kind = "text/event-stream" if word == "stream" else "application/json"
        self.send_header("content-type", kind)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def _stream(self) -> None:
        self.close_connection = True
        try:
            self._say()
        except ConnectionError:
            self.server.hung_up.set()  # before it read all

    def _say(self) -> None:
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.server.body)
        while self.server.hold and not self.server.stopped.wait(0.01):
            if select.select([self.connection], [], [], 0)[0]:
                self.server.hung_up.set()  # nothing else comes from a client
                return
        self.wfile.write(self.server.rest)


@pytest.fixture
def gateway() -> Iterator[ScriptedGateway]:
    with ScriptedGateway() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
