"""What a library or the transport would reject, found before the gateway starts."""

import importlib
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Raw

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
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.web import rate_limit

_WHO: Final[dict[str, Any]] = {"user_id": "u1", "init_s": 1.0}


def problems(settings: Settings) -> list[str]:
    """Return one line for each rejected setting. Opens nothing, connects to nothing."""
    lines = _wire_problems(DIALECTS[settings.dialect])
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
                settings.agent_url, TRANSPORTS[DIALECTS[settings.dialect].transport]
            )
        except Exception as exc:  # noqa: BLE001 (of any library that reads an `OTEL_*` variable)
            message = " ".join(str(exc).split())
            lines.append(f"TURNWIRE_TRACING: an OTEL_* variable is not taken: {message}")
    return lines


def _wire_problems(dialect: Dialect) -> list[str]:
    """Why the dialect's transport cannot open a connection as the dialect asks."""
    transport = TRANSPORTS[dialect.transport]
    lines = []
    for name, each in _samples(dialect):
        try:
            transport.check(each.connect_request())
        except BadConnectRequestError as exc:
            lines.append(f"TURNWIRE_DIALECT: {dialect.name} cannot connect for {name}: {exc}")
    return lines


def _samples(dialect: Dialect) -> Iterator[tuple[str, AgentProtocol | Operation[Any]]]:
    """One request of each kind that the dialect has, with the name of its kind."""
    conversation = None
    if not dialect.keeps_history:
        prompt = UserMessage("m1", (Text("hi"),))
        conversation = Conversation([item for item in dialect.write_message(prompt) if item], {})
    request = PromptRequest(text="hi", prompt_id="p1", conversation=conversation)
    yield "a prompt", dialect.prompt(request)
    operation = {**_WHO, "verdict_s": 1.0}
    if OperationName.RESUME in dialect.operations:
        yield "a resume", dialect.resume(ResumeRequest(**_WHO))
    if OperationName.STOP in dialect.operations:
        yield "a stop", dialect.stop(StopRequest(**operation))
    if OperationName.ANSWER in dialect.operations:
        reply = QuestionReply("q1", Raw(b"1"))
        yield "an answer", dialect.answer(AnswerRequest(**operation, reply=reply))
    if OperationName.HISTORY in dialect.operations:
        yield "a history", dialect.read_history(HistoryRequest(**operation, limit=1))
