"""What opens a connection, on each wire: for a WebSocket it is a handshake, whatever is asked."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.agent import AgentProtocol, Decoded, Dialect
from turnwire.core.connect import ConnectRequest
from turnwire.core.operations import Operation, OperationName
from turnwire.core.rejection import RejectedError
from turnwire.core.requests import (
    AnswerRequest,
    HistoryRequest,
    PromptRequest,
    QuestionReply,
    ResumeRequest,
    StopRequest,
)
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS

WHO: dict[str, Any] = {"user_id": "u1", "init_s": 5.0}
OFFERED = {"v2": (), "session-agent": ("valet", "agent-ops"), "acp": ()}


def every_kind(dialect: Dialect) -> Iterator[AgentProtocol | Operation[Any]]:
    """Whatever may be asked on this wire."""
    operation = WHO | {"verdict_s": 5.0}
    yield dialect.prompt(PromptRequest(text="hi", prompt_id="p1"))
    if OperationName.RESUME in dialect.operations:
        reply = QuestionReply("q1", Raw(b"1"), None)
        yield dialect.resume(ResumeRequest(**WHO))
        yield dialect.resume(ResumeRequest(**WHO, replies=(reply,)))
    if OperationName.STOP in dialect.operations:
        yield dialect.stop(StopRequest(**operation))
    if OperationName.ANSWER in dialect.operations:
        yield dialect.answer(AnswerRequest(**operation, reply=QuestionReply("q1", Raw(b"1"))))
    if OperationName.HISTORY in dialect.operations:
        yield dialect.read_history(HistoryRequest(**operation, limit=10))


@pytest.mark.parametrize("name", OFFERED)
def test_a_handshake_is_the_same_for_all_that_is_asked(name: str) -> None:
    dialect = DIALECTS[name]

    requests = [each.connect_request() for each in every_kind(dialect)]

    assert requests == [ConnectRequest(offered_protocols=OFFERED[name])] * len(requests)
    assert len(requests) == (6 if dialect.operations == frozenset(OperationName) else 2)
    assert dialect.transport == "websocket"


@pytest.mark.parametrize("name", DIALECTS)
def test_a_turn_needs_its_one_connection_and_takes_no_answer_beside_it(name: str) -> None:
    dialect = DIALECTS[name]
    protocols = [dialect.prompt(PromptRequest(text="hi", prompt_id="p1"))]
    with suppress(RejectedError, NotImplementedError):  # of a wire that never asks, or tells again
        protocols.append(dialect.resume(ResumeRequest(**WHO)))
    for protocol in protocols:
        assert protocol.reply(QuestionReply("q1", Raw(b"1")), "u1", 1.0) == Decoded()
        assert protocol.connection_lost(2.0) is None


@pytest.mark.parametrize("name", DIALECTS)
def test_a_wire_has_a_transport(name: str) -> None:
    assert DIALECTS[name].transport in TRANSPORTS


def test_every_wire_of_a_websocket_is_asked() -> None:
    websockets = {name for name, each in DIALECTS.items() if each.transport == "websocket"}

    assert set(OFFERED) == websockets
