"""The terminal chat against a scripted gateway: what a person sees, and how a turn ended."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from subprocess import PIPE
from typing import Any, Protocol

import pytest
from rich.console import Console

from turnwire_lab.chat.screen import Screen
from turnwire_lab.chat.wire import Ending
from turnwire_lab.cli import main

Chunk = dict[str, Any]


class Gateway(Protocol):
    """The fixture of conftest.py, as far as these tests use it."""

    url: str
    status: int
    headers: dict[str, str]
    body: bytes
    hold: bool
    asked: list[tuple[str, str | None, Any]]
    hung_up: Any

    def say(self, *chunks: Chunk, done: bool = True) -> None: ...


START: tuple[Chunk, ...] = ({"type": "start", "messageId": "t1"}, {"type": "start-step"})
TEXT: tuple[Chunk, ...] = (
    {"type": "text-start", "id": "t1:t0"},
    {"type": "text-delta", "id": "t1:t0", "delta": "Hello "},
    {"type": "text-delta", "id": "t1:t0", "delta": "there."},
    {"type": "text-end", "id": "t1:t0"},
)
END: tuple[Chunk, ...] = ({"type": "finish-step"}, {"type": "finish"})


def once(gateway: Gateway, text: str = "hi", *more: str) -> int:
    return main(["chat", "--url", gateway.url, "--token", "secret", "--once", text, *more])


def screen(*, terminal: bool = False) -> tuple[Screen, StringIO]:
    out = StringIO()
    console = Console(file=out, force_terminal=terminal, width=60, highlight=False)
    return Screen(console), out


@pytest.mark.sockets
def test_a_turn_is_shown_and_succeeds(gateway: Gateway, capsys: pytest.CaptureFixture[str]) -> None:
    gateway.say(*START, *TEXT, *END)

    assert once(gateway, "hi", "--session", "a:b") == 0
    assert capsys.readouterr().out == "Hello there.\n"
    path, authorization, body = gateway.asked[0]
    assert path == "/api/sessions/a%3Ab/chat"
    assert authorization == "Bearer secret"
    assert body["trigger"] == "submit-message"
    assert body["messages"][0]["parts"] == [{"type": "text", "text": "hi"}]


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("chunks", "done", "words"),
    [
        ((*START, *TEXT), True, "The stream broke: the stream ended without `finish`"),
        ((*START, *TEXT), False, "The stream broke: the stream ended without `finish`"),
        ((), False, "The stream broke: the stream ended without `finish`"),
        (
            (*START, *TEXT, {"type": "error", "errorText": "Stream interrupted"}, *END),
            True,
            "The turn failed: Stream interrupted",
        ),
        ((*START, *TEXT, {"type": "abort"}, *END), True, "Ended early: the turn was canceled"),
    ],
)
def test_an_ending_that_is_no_success_is_told_in_words(
    gateway: Gateway,
    capsys: pytest.CaptureFixture[str],
    chunks: tuple[Chunk, ...],
    done: bool,  # noqa: FBT001 - a column of the table
    words: str,
) -> None:
    gateway.say(*chunks, done=done)

    assert once(gateway) == 1
    assert words in capsys.readouterr().out


@pytest.mark.sockets
@pytest.mark.parametrize("body", [b"data: no json\n\n", b"data: []\n\n", b'data: {"type":1}\n\n'])
def test_a_record_that_is_no_chunk_breaks_the_stream(
    gateway: Gateway, capsys: pytest.CaptureFixture[str], body: bytes
) -> None:
    gateway.body = body

    assert once(gateway) == 1
    assert "The stream broke: a record is no chunk" in capsys.readouterr().out


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, b'{"error":"Unauthorized","code":"x"}', "401: Unauthorized (the token was not"),
        (404, b'{"error":"Not found"}', "404: Not found (there is no such session"),
        (503, b"", "503: Service Unavailable (the gateway cannot take more right now) - try"),
        (418, b"[]", "418: I'm a Teapot"),
    ],
)
def test_a_refusal_is_told_in_words(
    gateway: Gateway, capsys: pytest.CaptureFixture[str], status: int, body: bytes, words: str
) -> None:
    gateway.status, gateway.body = status, body
    gateway.headers = {"content-type": "application/json", "retry-after": "3"}

    assert once(gateway) == 1
    assert f"Refused: {words}".lower() in capsys.readouterr().out.lower()


@pytest.mark.sockets
def test_something_that_is_no_gateway(gateway: Gateway, capsys: pytest.CaptureFixture[str]) -> None:
    gateway.headers = {"content-type": "text/html"}

    assert once(gateway) == 1
    assert "is this a gateway?" in capsys.readouterr().out


@pytest.mark.sockets
def test_a_connection_that_breaks_in_the_middle(
    gateway: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway.say(*START, *TEXT, done=False)
    gateway.headers["content-length"] = "100000"

    assert once(gateway) == 1
    assert "The stream broke: the connection broke in the middle" in capsys.readouterr().out


@pytest.mark.sockets
def test_nobody_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--url", "http://127.0.0.1:1", "--once", "hi"]) == 1
    assert "Refused: nothing answers at http://127.0.0.1:1/" in capsys.readouterr().out


@pytest.mark.parametrize("url", ["somewhere", "http://[::1", "ftp://127.0.0.1"])
def test_an_address_that_is_none(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--url", url, "--once", "hi"]) == 1
    assert "is no address of a gateway" in capsys.readouterr().out


@pytest.mark.sockets
def test_any_token_can_be_sent(gateway: Gateway) -> None:
    gateway.say(*START, *TEXT, *END)

    assert main(["chat", "--url", gateway.url, "--token", "„quoted“ ", "--once", "hi"]) == 0
    assert (gateway.asked[0][1] or "").encode("latin-1").decode() == "Bearer „quoted“"


@pytest.mark.sockets
def test_prompts_come_one_a_line_from_a_pipe(gateway: Gateway) -> None:
    gateway.say(*START, *TEXT, *END)

    done = subprocess.run(
        [sys.executable, "-m", "turnwire_lab", "chat", "--url", gateway.url],
        input="one\n\ntwo\n",
        env=os.environ | {"TURNWIRE_LAB_TOKEN": "from-the-environment"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello there.\n" * 2, "")
    assert [body["messages"][0]["parts"][0]["text"] for _, _, body in gateway.asked] == [
        "one",
        "two",
    ]
    assert gateway.asked[0][1] == "Bearer from-the-environment"
    assert gateway.asked[0][2]["id"] == gateway.asked[1][2]["id"]


@pytest.mark.sockets
def test_ctrl_c_stops_the_turn_by_closing_the_stream(gateway: Gateway) -> None:
    gateway.say(*START, *TEXT, done=False)
    gateway.hold = True

    arguments = ["-m", "turnwire_lab", "chat", "--url", gateway.url]
    with started(arguments, stdin=PIPE, stdout=PIPE) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None
        chat.stdin.write("hi\nnever asked\n")
        chat.stdin.close()
        line = chat.stdout.readline()
        chat.send_signal(signal.SIGINT)

        assert line + chat.stdout.read() == "Hello there.\nStopped\n"
        assert chat.wait() == 1
    assert gateway.hung_up.wait(5)
    assert len(gateway.asked) == 1


@pytest.mark.sockets
def test_at_a_terminal_ctrl_c_stops_a_turn_and_ctrl_d_leaves(gateway: Gateway) -> None:
    gateway.say(*START, *TEXT, done=False)
    gateway.hold = True
    ours, theirs = os.openpty()
    program = (
        "import os, sys; os.login_tty(0)\n"
        "from turnwire_lab.cli import main\n"
        f"sys.exit(main(['chat', '--url', {gateway.url!r}]))"
    )

    with started(["-c", program], stdin=theirs, stdout=theirs, stderr=theirs) as chat:
        os.close(theirs)
        person = Terminal(ours)
        person.see(b"you >")
        person.type(b"hi\n")
        person.see(b"Hello there.")
        person.type(b"\x03")
        person.see(b"Stopped")
        person.see(b"you >")
        person.type(b"\x04")

        assert chat.wait() == 0
    os.close(ours)
    assert gateway.hung_up.wait(5)


class Terminal:
    """The person's side of a terminal: what was read past the words is kept for the next look."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._seen = b""

    def see(self, words: bytes) -> None:
        while words not in self._seen:
            self._seen += os.read(self._descriptor, 1024)
        self._seen = self._seen.partition(words)[2]

    def type(self, keys: bytes) -> None:
        os.write(self._descriptor, keys)


@contextmanager
def started(arguments: list[str], **how: Any) -> Iterator[subprocess.Popen[str]]:
    """A program that does not outlive its test, however that ends."""
    with subprocess.Popen([sys.executable, *arguments], text=True, **how) as process:
        try:
            yield process
        finally:
            process.kill()  # nothing, if it has been waited for


def test_tools_are_cards_with_input_and_outcome() -> None:
    shown, out = screen()
    for chunk in (
        {"type": "text-delta", "id": "a", "delta": "Let me see"},
        {"type": "tool-input-start", "toolCallId": "c1", "toolName": "calculator"},
        {"type": "tool-input-available", "toolCallId": "c1", "toolName": "calculator", "input": {}},
        {"type": "tool-output-available", "toolCallId": "c1", "output": {"value": 84}},
        {"type": "tool-input-available", "toolCallId": "c2", "toolName": "clock", "input": "x"},
        {"type": "tool-output-error", "toolCallId": "c2", "errorText": "Broken"},
        {"type": "tool-output-available", "toolCallId": "?", "output": "y" * 3000},
    ):
        shown.show(chunk)

    lines = out.getvalue().splitlines()
    assert lines[0] == "Let me see"
    assert lines[1].startswith("╭─ calculator ─")
    assert "input   {}" in lines[2]
    assert 'output  {"value": 84}' in lines[3]
    assert "clock" in lines[5]
    assert "failed  Broken" in lines[7]
    assert "y…" in out.getvalue()


def test_a_terminal_shows_status_and_dims_reasoning() -> None:
    shown, out = screen(terminal=True)
    shown.wait("waiting")
    shown.show({"type": "data-agent-status", "data": {"status": "thinking"}, "transient": True})
    shown.show({"type": "data-agent-status", "data": {"status": "queued", "detail": "behind one"}})
    shown.show({"type": "reasoning-delta", "id": "r", "delta": "hm"})
    shown.show({"type": "data-agent-status", "data": {"status": "streaming"}})
    shown.show({"type": "reasoning-end", "id": "r"})
    shown.ended(Ending.FINISHED, "")

    assert "\x1b[2;3mhm\x1b[0m" in out.getvalue()
    assert "queued: behind one" in out.getvalue()
    assert "streaming" not in out.getvalue()


def test_an_empty_answer_is_not_mistaken_for_a_lost_one() -> None:
    shown, out = screen()
    shown.ended(Ending.FINISHED, "")
    shown.show({"type": "text-delta", "id": "a", "delta": "Hi"})
    shown.ended(Ending.FINISHED, "")

    assert out.getvalue() == "(the answer is empty)\nHi\n"


def test_a_question_is_shown() -> None:
    shown, out = screen()
    question = {"text": "Go on?", "options": ["yes", "no"], "state": "open"}
    shown.show({"type": "data-question", "id": "q1", "data": question})
    shown.show({"type": "data-question", "id": "q2", "data": {"text": "Why?", "state": "expired"}})

    assert "question, open" in out.getvalue()
    assert "Go on?" in out.getvalue()
    assert "yes / no" in out.getvalue()
    assert "question, expired" in out.getvalue()


def test_an_answer_cannot_play_with_the_terminal() -> None:
    shown, out = screen()
    shown.show({"type": "text-delta", "id": "a", "delta": "a\x1b[2Jb\x07\x9bc\ud83d [red]d\n"})
    shown.show({"type": "text-delta", "id": "a", "delta": ""})
    shown.ended(Ending.FAILED, "\x1b]0;title\x07")

    assert out.getvalue() == "a[2Jbc? [red]d\nThe turn failed: ]0;title\n"
