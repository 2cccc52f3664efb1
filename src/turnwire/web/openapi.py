"""`/openapi.json`: OpenAPI 3.1 of the routes that exist, made from what the code knows."""

from collections.abc import Iterable
from typing import Any

from turnwire import __version__
from turnwire.errors import (
    AnotherTurn,
    BadRequest,
    BodyTooLarge,
    MethodNotAllowed,
    NotFound,
    NotSupported,
    QuestionClosed,
    Refused,
    SessionConflict,
    TooManyStreams,
    TooManyTurns,
    Unauthorized,
    Unavailable,
    WrongMediaType,
)
from turnwire.settings import Settings
from turnwire.web.schemas import SCHEMAS, STRING, ref

_ALWAYS = (
    BadRequest,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    TooManyStreams,
    Unavailable,
)
_BODY = (BodyTooLarge, WrongMediaType)

REFUSALS: dict[str, tuple[type[Refused], ...]] = {
    "chat": (
        *_ALWAYS,
        *_BODY,
        SessionConflict,
        QuestionClosed,
        TooManyTurns,
        NotSupported,
    ),
    "resume": _ALWAYS,
    "stop": (*_ALWAYS, *_BODY, AnotherTurn, NotSupported),
    "answer": (*_ALWAYS, *_BODY, QuestionClosed, NotSupported),
    "messages": (*_ALWAYS, NotSupported),
}
"""What each route may answer instead, by operation."""

_BEARER = {"type": "http", "scheme": "bearer"}
_FORMATS: dict[str, dict[str, str]] = {"jwt": {"bearerFormat": "JWT"}, "opaque": {}}


def document(settings: Settings) -> dict[str, Any]:
    """The document. With the feature flag off, the chat routes are not in it either."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "turnwire", "version": __version__, "license": {"name": "MIT"}},
        "paths": {**(_SESSION_PATHS if settings.enabled else {}), **_PLAIN_PATHS},
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
            status: {"description": what, "content": content} for status, what in statuses.items()
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


def _query(name: str, schema: dict[str, Any], what: str = "") -> dict[str, Any]:
    told = {"description": what} if what else {}
    return {"name": name, "in": "query", "required": False, "schema": schema, **told}


_NAME = {"type": "string", "pattern": r"^[^\u0000-\u001f\u007f]{1,256}$"}
_SESSION = _in_path("session_id", {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,128}$"})
_CHANNEL = (
    _query("channelType", {**_NAME, "default": "web"}),
    _query("channelId", {**_NAME, "default": "default"}),
    _query("threadId", _NAME, "A thread, which is a channel of its own"),
)
_CHAT_ID = _query("chatId", _NAME, "The chat's id, where each chat has a thread of its own")
_HANGUP = _query(
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
    {"enum": ["6", "7"]},
    "What the client knows beyond the portable profile: native approvals (AI SDK 6 and 7); also "
    "as the header `x-turnwire-profile`",
)

_STREAM = {
    "description": "The stream; errors of the agent are told in it",
    "headers": {
        "x-vercel-ai-ui-message-stream": {"schema": {"const": "v1"}},
        "x-request-id": {"schema": STRING},
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
    told: dict[str, Any] = {
        "operationId": name,
        "summary": summary,
        "security": [{"token": []}],
        "parameters": [_SESSION, *parameters, *_CHANNEL],
        "responses": {**responses, **_refusals(REFUSALS[name])},
    }
    if name in {"stop", "answer", "messages"}:
        told["parameters"].append(_CHAT_ID)
    if body:
        content = {kind: {"schema": ref(body)} for kind in ("application/json", "text/plain")}
        told["requestBody"] = {"required": name != "stop", "content": content}
    return told


def _refusals(kinds: tuple[type[Refused], ...]) -> dict[str, Any]:
    """By status; kinds of one status share their line."""
    texts: dict[str, list[str]] = {"500": ["Internal error"]}
    for kind in kinds:
        public = getattr(kind, "public", "The request is malformed")
        texts.setdefault(str(kind.status), []).append(public)
    return {
        status: {"description": "; ".join(what), "content": _json(ref("Refusal"))}
        for status, what in texts.items()
    }


def _answer(what: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": what, "content": _json(schema)}


_SESSION_PATHS: dict[str, Any] = {
    "/api/sessions/{session_id}/chat": {
        "post": _operation(
            "chat",
            "One turn: a prompt in, the AI SDK UI message stream out",
            {"200": _STREAM},
            parameters=[_HANGUP, _PROFILE],
            body="ChatBody",
        )
    },
    "/api/sessions/{session_id}/chat/{chat_id}/stream": {
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
