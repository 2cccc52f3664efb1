"""Recorded approvals of the profiles 6 and 7, played to the released clients that have them.

A client gets the stream that asks, its user approves or denies at the card, and the client gets the
stream that its answer begins. It shows one message, in which the call has one outcome.
"""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest

from conformance.clients import Job
from conformance.test_approvals import NATIVE, OVERLOOKS, Played, Report, play

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

GOLDEN: Final = Path(__file__).parents[1] / "golden/native/ag-ui"
ANSWERS: Final[dict[str, tuple[str, Job, str, str]]] = {
    "approved": ("continued", {"approved": True}, "output-available", "deleted"),
    "denied": ("denied", {"approved": False}, "output-error", "The user denied it"),
}
"""The stream that an answer begins, the answer, and the outcome that the card has then."""
BEGUN: Final = ["step-start", "text", "tool-delete_file approval-requested"]


class Transcripts(BaseHTTPRequestHandler):
    """Answers the first POST of a chat with the stream that asks, each other with the next one."""

    posts: dict[str, int]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        count = self.posts[self.path] = self.posts.get(self.path, 0) + 1
        name = "approval" if count == 1 else ANSWERS[self.path.split("/")[2]][0]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("x-vercel-ai-ui-message-stream", "v1")
        self.end_headers()
        self.wfile.write((GOLDEN / f"{name}.sse").read_bytes())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def reports() -> Iterator[dict[str, Report]]:
    handler = type("Handler", (Transcripts,), {"posts": {}})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        yield {client: play(client, jobs(client, url)) for client in NATIVE}
        server.shutdown()


def jobs(client: str, url: str) -> list[Job]:
    return [
        {
            "name": name,
            "url": f"{url}/{client}/{name}",
            "headers": {},
            "helper": "app" if client == OVERLOOKS else "ai",
            "steps": [{"send": "delete notes.txt"}, {"respond": [answer]}],
        }
        for name, (_, answer, *_) in ANSWERS.items()
    ]


def states(played: Played, step: int) -> list[str]:
    """The parts of the answer after a step, a tool with its state."""
    (_, answer) = played.shown[step]
    return [
        f"{part['type']} {part['state']}" if part["type"].startswith("tool-") else part["type"]
        for part in answer.parts
    ]


@pytest.mark.parametrize("client", NATIVE)
@pytest.mark.parametrize("name", ANSWERS)
def test_the_call_has_one_outcome_in_one_message(
    client: str, name: str, reports: dict[str, Report]
) -> None:
    played = reports[client].job(name)
    _, _, state, outcome = ANSWERS[name]

    assert states(played, 0) == BEGUN
    assert states(played, 1) == [*BEGUN[:2], f"tool-delete_file {state}", "step-start", "text"]
    assert [message.id for message in played.messages[1:]] == ["p1"]
    (card,) = played.tools
    assert card["input"] == {"path": "notes.txt"}
    assert card.get("output", card.get("errorText")) == outcome
    assert (played.status, played.errors, played.statuses) == ("ready", [], [200, 200])


@pytest.mark.parametrize("client", NATIVE)
def test_nothing_is_left_unhandled(client: str, reports: dict[str, Report]) -> None:
    assert reports[client].unhandled == []
