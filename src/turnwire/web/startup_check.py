"""What a library or the transport would reject, found before the gateway starts."""

import importlib
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from msgspec import Raw

from turnwire.config.dialect_loading import failure, find
from turnwire.config.dialect_members import lacking
from turnwire.config.effective import turn_log_place
from turnwire.config.settings import Settings
from turnwire.core.agent import AgentProtocol, Dialect
from turnwire.core.body.conversation import Conversation, Text, UserMessage
from turnwire.core.connect import BadConnectRequestError
from turnwire.core.operations import Operation, OperationName
from turnwire.core.requests import (
    AnswerRequest,
    HistoryRequest,
    PromptRequest,
    QuestionReply,
    ResumeRequest,
    StopRequest,
)
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.web import rate_limit

_Made: TypeAlias = Callable[[], AgentProtocol | Operation[Any]]
_OF_TURNS: Final = frozenset({"a prompt", "a resume"})
"""Samples that are turns, and no operations."""
_WHO: Final[dict[str, Any]] = {"user_id": "u1", "init_s": 1.0}


def problems(settings: Settings) -> list[str]:
    """Return one line for each rejected setting. Opens nothing, connects to nothing."""
    lines = _wire_problems(find(settings.dialect))
    if settings.rates_url and (problem := rate_limit.problem(settings.rates_url)):
        lines.append(f"TURNWIRE_RATES_URL: {problem}")
    place = turn_log_place(settings)
    if place not in {"off", "memory"}:
        address = importlib.import_module("turnwire.relay.turn_log.redis.address")
        if problem := address.problem(place):
            lines.append(f"TURNWIRE_TURN_LOG: {problem}")
    if settings.tracing == "otlp":
        try:
            importlib.import_module("turnwire.web.observe.otel").check_variables(
                settings.agent_url, TRANSPORTS[find(settings.dialect).transport]
            )
        except Exception as exc:  # noqa: BLE001 (of any library that reads an `OTEL_*` variable)
            message = " ".join(str(exc).split())
            lines.append(f"TURNWIRE_TRACING: an OTEL_* variable is not taken: {message}")
    return lines


def _wire_problems(dialect: Dialect) -> list[str]:
    """Why the dialect's transport cannot open a connection as the dialect asks."""
    transport = TRANSPORTS[dialect.transport]
    lines = []
    for name, made in _samples(dialect):
        try:
            each = made()
            if name in _OF_TURNS and (missing := lacking(each)):
                lines.append(f"TURNWIRE_DIALECT: {dialect.name} has no {missing[0]} for {name}")
                continue
            transport.check(each.connect_request())
        except BadConnectRequestError as exc:
            lines.append(f"TURNWIRE_DIALECT: {dialect.name} cannot connect for {name}: {exc}")
        except Exception as exc:  # noqa: BLE001 (others' code)
            lines.append(f"TURNWIRE_DIALECT: {dialect.name} fails for {name}: {failure(exc)}")
    return lines


def _samples(dialect: Dialect) -> Iterator[tuple[str, _Made]]:
    """What makes one request of each kind that the dialect has, with the name of its kind."""
    yield "a prompt", lambda: dialect.prompt(_prompt_request(dialect))
    operation = {**_WHO, "verdict_s": 1.0}
    if OperationName.RESUME in dialect.operations:
        yield "a resume", lambda: dialect.resume(ResumeRequest(**_WHO))
    if OperationName.STOP in dialect.operations:
        yield "a stop", lambda: dialect.stop(StopRequest(**operation))
    if OperationName.ANSWER in dialect.operations:
        reply = QuestionReply("q1", Raw(b"1"))
        yield "an answer", lambda: dialect.answer(AnswerRequest(**operation, reply=reply))
    if OperationName.HISTORY in dialect.operations:
        yield "a history", lambda: dialect.read_history(HistoryRequest(**operation, limit=1))


def _prompt_request(dialect: Dialect) -> PromptRequest:
    conversation = None
    if not dialect.keeps_history:
        prompt = UserMessage("m1", (Text("hi"),))
        conversation = Conversation([item for item in dialect.write_message(prompt) if item], {})
    return PromptRequest(text="hi", prompt_id="p1", conversation=conversation)
