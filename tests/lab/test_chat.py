"""The terminal chat against a scripted gateway: what a person sees, and how a turn ended."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from subprocess import DEVNULL, PIPE
from typing import Any, Protocol

import pytest

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
    others: dict[str, tuple[int, bytes]]
    rest: bytes
    deaf: bool
    hung_up: Any

    def say(self, *chunks: Chunk, done: bool = True) -> None: ...


START: tuple[Chunk, ...] = ({"type": "start", "messageId": "t1"}, {"type": "start-step"})
TEXT: tuple[Chunk, ...] = (
    {"type": "text-start", "id": "t1:t0"},
    {"type": "text-delta", "id": "t1:t0", "delta": "Hello "},
    {"type": "text-delta", "id": "t1:t0", "delta": "there."},
    {"type": "text-end", "id": "t1:t0"},
)
TOOL: tuple[Chunk, ...] = (
    {"type": "tool-input-available", "toolCallId": "c1", "toolName": "calculator", "input": {}},
    {"type": "tool-output-available", "toolCallId": "c1", "output": {"value": 84}},
)
END: tuple[Chunk, ...] = ({"type": "finish-step"}, {"type": "finish"})
CHAT = "/api/sessions/demo/chat"
RECEIPT = b'{"stopped":true,"turnId":"t1","reason":"canceled","waitedMs":3}'


def records(*chunks: Chunk, done: bool = True) -> bytes:
    told = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return ("".join(told) + ("data: [DONE]\n\n" if done else "")).encode()


def once(gateway: Gateway, text: str = "hi", *more: str) -> int:
    return main(["chat", "--url", gateway.url, "--token", "secret", "--once", text, *more])


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
def test_ctrl_c_has_the_turn_stopped_and_waits_for_its_end(gateway: Gateway) -> None:
    gateway.say(*START, *TEXT, done=False)
    gateway.hold = True
    gateway.rest = records({"type": "abort"}, *END)
    gateway.others["stop"] = 200, RECEIPT

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
    assert not gateway.hung_up.is_set()
    assert [path for path, _, _ in gateway.asked] == [CHAT, "/api/sessions/demo/stop"]
    assert gateway.asked[1][2] == {"turnId": "t1"}


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("told", "words"),
    [
        # Without the id of our turn, somebody else's might be stopped.
        ((), "Stopped\n"),
        ((*START, *TEXT), "It could not be stopped (501: Not Implemented); hung up instead\n"),
    ],
)
def test_a_turn_that_cannot_be_stopped_is_hung_up_on(
    gateway: Gateway, told: tuple[Chunk, ...], words: str
) -> None:
    gateway.say({"type": "data-agent-status", "data": {"status": "queued"}}, *told, done=False)
    gateway.hold = True

    arguments = ["-m", "turnwire_lab", "chat", "--url", gateway.url, "--once", "hi"]
    with started(arguments, stdin=DEVNULL, stdout=PIPE) as chat:
        assert chat.stdout is not None
        if told:
            chat.stdout.readline()
        else:
            wait_for(lambda: gateway.asked)
        chat.send_signal(signal.SIGINT)

        assert chat.stdout.read().startswith(words)
        assert chat.wait() == 1
    assert gateway.hung_up.wait(5)


@pytest.mark.sockets
def test_ctrl_c_once_more_waits_no_longer(gateway: Gateway) -> None:
    gateway.say(*START, *TEXT, done=False)
    gateway.hold = gateway.deaf = True
    gateway.others["stop"] = 200, RECEIPT

    arguments = ["-m", "turnwire_lab", "chat", "--url", gateway.url, "--once", "hi"]
    with started(arguments, stdin=DEVNULL, stdout=PIPE) as chat:
        assert chat.stdout is not None
        chat.stdout.readline()
        chat.send_signal(signal.SIGINT)
        wait_for(lambda: len(gateway.asked) > 1)
        chat.send_signal(signal.SIGINT)

        assert chat.stdout.read() == "Stopped\n"
        assert chat.wait() == 1
    assert gateway.hung_up.wait(5)


@pytest.mark.sockets
def test_at_a_terminal_ctrl_c_stops_a_turn_and_ctrl_d_leaves(gateway: Gateway) -> None:
    gateway.say(*START, *TEXT, done=False)
    gateway.hold = True
    gateway.rest = records({"type": "abort"}, *END)
    gateway.others["stop"] = 200, RECEIPT

    with at_a_terminal(gateway) as (chat, person):
        person.see(b"you >")
        person.type(b"hi\n")
        person.see(b"Hello there.")
        person.type(b"\x03")
        person.see(b"Stopped")
        person.see(b"you >")
        person.type(b"\x04")

        assert chat.wait() == 0


@pytest.mark.sockets
def test_at_a_terminal_ctrl_c_leaves_too(gateway: Gateway) -> None:
    with at_a_terminal(gateway) as (chat, person):
        person.see(b"you >")
        person.type(b"\x03")

        assert chat.wait() == 0


@pytest.mark.sockets
def test_a_lost_connection_is_taken_up_where_it_broke(
    gateway: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway.say(*START, *TEXT[:2], done=False)
    gateway.others["stream"] = 200, records(*START, *TEXT, *TOOL, *END)

    assert once(gateway) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Hello there."
    assert "calculator" in lines[1]
    assert "/stream" in gateway.asked[1][0]


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (204, b""),
        (503, b""),
        (200, b'data: {"type":"start","messageId":"t2"}\n\n'),
    ],
)
def test_a_turn_that_is_over_meanwhile_cannot_be_taken_up(
    gateway: Gateway, capsys: pytest.CaptureFixture[str], status: int, body: bytes
) -> None:
    gateway.say(*START, *TEXT, done=False)
    gateway.others["stream"] = status, body

    assert once(gateway) == 1
    assert "The stream broke: the stream ended without `finish`" in capsys.readouterr().out
    assert len(gateway.asked) == 2


@pytest.mark.sockets
def test_it_takes_a_turn_up_only_once(gateway: Gateway, capsys: pytest.CaptureFixture[str]) -> None:
    gateway.say(*START, *TEXT, done=False)
    gateway.others["stream"] = 200, records(*START, *TEXT, done=False)

    assert once(gateway) == 1
    assert "Hello there.\nThe stream broke" in capsys.readouterr().out
    assert len(gateway.asked) == 2


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
def at_a_terminal(gateway: Gateway) -> Iterator[tuple[subprocess.Popen[str], Terminal]]:
    ours, theirs = os.openpty()
    program = (
        "import os, sys; os.login_tty(0)\n"
        "from turnwire_lab.cli import main\n"
        f"sys.exit(main(['chat', '--url', {gateway.url!r}]))"
    )
    with started(["-c", program], stdin=theirs, stdout=theirs, stderr=theirs) as chat:
        os.close(theirs)
        yield chat, Terminal(ours)
    os.close(ours)


def wait_for(fact: Callable[[], object]) -> None:
    until = time.monotonic() + 10
    while not fact():
        assert time.monotonic() < until
        time.sleep(0.01)


@contextmanager
def started(arguments: list[str], **how: Any) -> Iterator[subprocess.Popen[str]]:
    """A program that does not outlive its test, however that ends."""
    with subprocess.Popen([sys.executable, *arguments], text=True, **how) as process:
        try:
            yield process
        finally:
            process.kill()  # nothing, if it has been waited for
