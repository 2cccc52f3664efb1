"""What a library or the transport would refuse is told before anything starts."""

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.running import settings
from support.framed_transport import FramedTransport
from support.posting_dialect import Posting, PostingProtocol, PostingStop
from support.telling_dialect import Telling
from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import PromptRequest, StopRequest
from turnwire.core.session_group import Member
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.relay.agent.websocket import WebSocketTransport
from turnwire.web.startup_check import problems


def test_what_every_library_takes_has_no_problem() -> None:
    assert problems(settings()) == []
    assert problems(settings(rates_url="redis://h:1/0", turns_per_minute=1, tracing="otlp")) == []


def test_options_that_the_store_does_not_know_are_told_without_its_password() -> None:
    (problem,) = problems(settings(rates_url="redis://:pw@h:1?nonsense=1", turns_per_minute=1))

    assert problem.startswith("TURNWIRE_RATES_URL: ")
    assert "pw" not in problem


@pytest.mark.parametrize(
    "url", ["redis://h:1/0", "redis+cluster://a:1,b", "rediss+sentinel://a,b:2/name/1"]
)
def test_the_url_of_a_turn_log_that_the_library_takes(url: str) -> None:
    assert problems(settings(turn_log=url)) == []


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hunter2@h:1?nonsense=1",
        "redis://:hunter2@h:port",
        "redis://:hunter2@a,b",
        "redis://",
        "redis+cluster://:hunter2@a,b/1",
        "redis+sentinel://:hunter2@a,b",
    ],
)
def test_the_url_of_a_turn_log_that_is_of_no_use_is_told_without_its_password(url: str) -> None:
    (problem,) = problems(settings(turn_log=url))

    assert problem.startswith("TURNWIRE_TURN_LOG: ")
    assert "hunter2" not in problem


def test_a_variable_of_tracing_that_is_not_taken_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "-1")

    (problem,) = problems(settings(tracing="otlp"))

    assert problem.startswith("TURNWIRE_TRACING: an OTEL_* variable is not taken: ")
    assert "\n" not in problem


@pytest.mark.parametrize("name", list(DIALECTS))
def test_every_dialect_asks_its_transport_for_what_that_can(name: str) -> None:
    scheme = {"websocket": "ws", "http": "http"}[DIALECTS[name].transport]
    url = f"{scheme}://127.0.0.1:9/{{session_id}}"
    needed = dict.fromkeys(DIALECTS[name].needs, "none")

    assert problems(settings(url, dialect=name, **needed)) == []


def test_a_dialect_that_is_sent_the_conversation_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """`Telling` asserts it."""
    monkeypatch.setitem(DIALECTS, Telling.name, Telling())

    assert problems(settings(dialect=Telling.name)) == []


class Misplaced(Posting):
    """A wire whose prompt is a body, on a transport without one."""

    name = "misplaced"
    transport = WebSocketTransport.name


def test_a_request_that_its_transport_cannot_send_is_told_for_each_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(DIALECTS, "misplaced", Misplaced())

    of_prompt, of_stop = problems(settings(dialect="misplaced"))

    assert of_prompt.startswith("TURNWIRE_DIALECT: misplaced cannot connect for a prompt: ")
    assert "a GET without a body, not by a POST with 26 bytes of body" in of_prompt
    assert of_stop.startswith("TURNWIRE_DIALECT: misplaced cannot connect for a stop: ")
    assert "not by a DELETE with 0 bytes of body" in of_stop


class Cheeky(Posting):
    """A wire that would say itself who asks."""

    name = "cheeky"

    def prompt(self, request: PromptRequest, _member: Member | None = None) -> PostingProtocol:
        class Asks(PostingProtocol):
            def connect_request(self) -> ConnectRequest:
                return ConnectRequest(headers={"Authorization": "Bearer another"})

        return Asks(request)


def test_a_header_that_no_dialect_may_set_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, "cheeky", Cheeky())
    monkeypatch.setitem(TRANSPORTS, "framed", FramedTransport)

    assert problems(settings("framed://h/{session_id}", dialect="cheeky", insecure="true")) == [
        (
            "TURNWIRE_DIALECT: cheeky cannot connect for a prompt: "
            "a dialect may not set the header 'Authorization'"
        )
    ]


class Incomplete(Posting):
    """A wire whose protocol is not finished, and whose stop has a bug."""

    name = "incomplete"

    def prompt(self, _request: PromptRequest, _member: Member | None = None) -> Any:
        return SimpleNamespace(connect_request=ConnectRequest)

    def stop(self, _request: StopRequest) -> PostingStop:
        secret = {"hunter2": 1}
        raise KeyError(next(iter(secret)))


def test_code_of_others_that_is_not_finished_is_told_without_what_it_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(DIALECTS, "incomplete", Incomplete())
    monkeypatch.setitem(TRANSPORTS, "framed", FramedTransport)
    given = settings("framed://h/{session_id}", dialect="incomplete", insecure="true")

    of_prompt, of_stop = problems(given)

    assert of_prompt == "TURNWIRE_DIALECT: incomplete has no frame_stats for a prompt"
    assert of_stop.startswith("TURNWIRE_DIALECT: incomplete fails for a stop: KeyError at test_")
    assert "hunter2" not in of_stop
