"""`/openapi.json`: the OpenAPI 3.1 document of the routes, built from the code's own tables."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any

from turnwire import __version__
from turnwire.config.settings import Settings
from turnwire.core.operations import OperationName
from turnwire.errors import (
    AnotherTurn,
    BadRequest,
    BodyTooLarge,
    MethodNotAllowed,
    NotFound,
    NotSupported,
    QuestionClosed,
    RequestRefused,
    SessionConflict,
    TooManyStreams,
    TooManyTurns,
    TurnTooLong,
    Unauthorized,
    Unavailable,
    WrongMediaType,
)
from turnwire.web.routes.openapi_schemas import SCHEMAS, STRING, ref

_ALWAYS = (
    BadRequest,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    TooManyStreams,
    Unavailable,
)
_BODY = (BodyTooLarge, WrongMediaType)

REFUSALS: dict[str, tuple[type[RequestRefused], ...]] = {
    "chat": (
        *_ALWAYS,
        *_BODY,
        SessionConflict,
        AnotherTurn,
        QuestionClosed,
        TooManyTurns,
        NotSupported,
    ),
    "resume": (*_ALWAYS, TurnTooLong),
    "stop": (*_ALWAYS, *_BODY, AnotherTurn, NotSupported),
    "answer": (*_ALWAYS, *_BODY, QuestionClosed, NotSupported),
    "messages": (*_ALWAYS, NotSupported),
}
"""The errors that each route may answer, by operation."""

_BEARER = {"type": "http", "scheme": "bearer"}
_FORMATS: dict[str, dict[str, str]] = {"jwt": {"bearerFormat": "JWT"}, "opaque": {}}


def document(
    settings: Settings, operations: AbstractSet[OperationName] = frozenset(OperationName)
) -> dict[str, Any]:
    """Return the document. It leaves the chat routes out where they are not enabled.

    `operations`: what the agent's wire has, or the turn log has in its place.
    """
    return {
        "openapi": "3.1.0",
        "info": {"title": "turnwire", "version": __version__, "license": {"name": "MIT"}},
        "paths": {**(_session_paths(operations) if settings.enabled else {}), **_PLAIN_PATHS},
        "components": {
            "securitySchemes": {"token": _BEARER | _FORMATS[settings.auth]},
            "schemas": SCHEMAS,
        },
    }


def _text(summary: str, statuses: dict[str, str]) -> dict[str, Any]:
    content = {"text/plain": {"schema": STRING}}
    return {
        "operationId": summary.replace(" ", "_").lower(),
        "summary": summary,
        "responses": {
            status: {"description": description, "content": content}
            for status, description in statuses.items()
        },
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


_PLAIN_PATHS: dict[str, Any] = {
    "/healthz": {"get": _text("The process answers", {"200": "It does"})},
    "/readyz": {"get": _text("New streams are wanted", {"200": "They are", "503": "Stopping"})},
    "/openapi.json": {
        "get": {
            "operationId": "openapi",
            "summary": "This document",
            "responses": {
                "200": {"description": "This document", "content": _json({"type": "object"})}
            },
        }
    },
}


def _in_path(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query(name: str, schema: dict[str, Any], description: str = "") -> dict[str, Any]:
    extra = {"description": description} if description else {}
    return {"name": name, "in": "query", "required": False, "schema": schema, **extra}


_NAME = {"type": "string", "pattern": r"^[^\u0000-\u001f\u007f]{1,256}$"}
_SESSION = _in_path("session_id", {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,128}$"})
_CHANNEL = (
    _query("channelType", {**_NAME, "default": "web"}),
    _query("channelId", {**_NAME, "default": "default"}),
    _query("threadId", _NAME, "A thread, which is a channel of its own"),
)
_CHAT_ID = _query("chatId", _NAME, "The chat's id, where each chat has a thread of its own")
_ON_DISCONNECT = _query(
    "onDisconnect",
    {"enum": ["abort", "continue", "grace"]},
    "What becomes of the turn when the client hangs up; the gateway's setting unless told",
)

_CURSOR = _query(
    "startIndex",
    {"type": "integer", "minimum": -999_999_999, "maximum": 999_999_999},
    "Of a `WorkflowChatTransport`, whose run id stands for the chat's: the first chunk it has not",
)
_PROFILE = _query(
    "profile",
    {"enum": ["6", "7", "7.1"]},
    "What the client knows beyond the portable profile: native approvals (AI SDK 6 and 7) and "
    "`reset-step` (7.1: 7.0.70 and newer); also as the header `x-turnwire-profile`",
)

_STREAM = {
    "description": "The stream; errors of the agent are told in it",
    "headers": {
        "x-vercel-ai-ui-message-stream": {"schema": {"const": "v1"}},
        "x-request-id": {"schema": STRING},
        "x-turnwire-resume": {
            "schema": {"const": "no"},
            "description": "The turn log cannot keep this turn: it cannot be resumed",
        },
        "x-workflow-run-id": {"schema": STRING, "description": "To a `WorkflowChatTransport`"},
    },
    "content": {"text/event-stream": {"schema": ref("Event")}},
}


def _operation(
    name: str,
    summary: str,
    responses: dict[str, Any],
    *,
    parameters: Iterable[dict[str, Any]] = (),
    body: str = "",
) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": summary,
        "security": [{"token": []}],
        "parameters": [_SESSION, *parameters, *_CHANNEL],
        "responses": {**responses, **_error_responses(REFUSALS[name])},
    }
    if name in {"stop", "answer", "messages"}:
        operation["parameters"].append(_CHAT_ID)
    if body:
        content = {kind: {"schema": ref(body)} for kind in ("application/json", "text/plain")}
        operation["requestBody"] = {"required": name != "stop", "content": content}
    return operation


def _error_responses(errors: tuple[type[RequestRefused], ...]) -> dict[str, Any]:
    """Return the responses by status. Errors with the same status share one description."""
    texts: dict[str, list[str]] = {"500": ["Internal error"]}
    for error in errors:
        public = getattr(error, "public", "The request is malformed")
        texts.setdefault(str(error.status), []).append(public)
    return {
        status: {"description": "; ".join(descriptions), "content": _json(ref("Refusal"))}
        for status, descriptions in texts.items()
    }


def _answer(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": _json(schema)}


_RESUME_PATH = "/api/sessions/{session_id}/chat/{chat_id}/stream"

_SESSION_PATHS: dict[str, Any] = {
    "/api/sessions/{session_id}/chat": {
        "post": _operation(
            "chat",
            "One turn: a prompt in, the AI SDK UI message stream out",
            {"200": _STREAM},
            parameters=[_ON_DISCONNECT, _PROFILE],
            body="ChatBody",
        )
    },
    _RESUME_PATH: {
        "get": _operation(
            "resume",
            "The turn that runs or waits, from its start",
            {"200": _STREAM, "204": {"description": "There is none"}},
            parameters=[_in_path("chat_id", STRING), _PROFILE, _CURSOR],
        )
    },
    "/api/sessions/{session_id}/stop": {
        "post": _operation(
            "stop",
            "Stop the running turn",
            {"200": _answer("What became of it", ref("Receipt"))},
            body="StopBody",
        )
    },
    "/api/sessions/{session_id}/answer": {
        "post": _operation(
            "answer",
            "Answer an open question",
            {"202": _answer("The agent has the answer", {"type": "object"})},
            body="AnswerBody",
        )
    },
    "/api/sessions/{session_id}/messages": {
        "get": _operation(
            "messages",
            "The history, oldest first",
            {
                "200": _answer(
                    "To start `useChat` with", {"type": "array", "items": ref("UIMessage")}
                )
            },
            parameters=[
                _query("limit", {"type": "integer", "minimum": 1, "maximum": 500, "default": 100}),
                _query("before", STRING, "The id of a message: only what was said before it"),
                _query(
                    "finish",
                    {"type": "boolean", "default": False},
                    "Also which answers failed or were stopped, in their metadata",
                ),
            ],
        )
    },
}


def _session_paths(operations: AbstractSet[OperationName]) -> dict[str, Any]:
    """Return the chat routes. Only where the wire has no resume, that route answers 501."""
    if OperationName.RESUME in operations:
        return _SESSION_PATHS
    get = _SESSION_PATHS[_RESUME_PATH]["get"]
    responses = get["responses"] | _error_responses((NotSupported,))
    return _SESSION_PATHS | {_RESUME_PATH: {"get": get | {"responses": responses}}}
