"""`/openapi.json`: OpenAPI 3.1 of the routes that exist, made from what the code knows."""

from typing import Any

from turnwire import __version__
from turnwire.errors import (
    BadRequest,
    BodyTooLarge,
    MethodNotAllowed,
    NotFound,
    Refused,
    SessionConflict,
    TooManyStreams,
    Unauthorized,
    Unavailable,
    WrongMediaType,
)
from turnwire.settings import Settings

CHAT_REFUSALS: tuple[type[Refused], ...] = (
    BadRequest,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    SessionConflict,
    BodyTooLarge,
    WrongMediaType,
    TooManyStreams,
    Unavailable,
)


def document(settings: Settings) -> dict[str, Any]:
    """The document. With the feature flag off, the chat routes are not in it either."""
    paths: dict[str, Any] = {
        "/healthz": {"get": _text("The process answers", {"200": "It does"})},
        "/readyz": {"get": _text("New streams are wanted", {"200": "They are", "503": "Stopping"})},
        "/openapi.json": {
            "get": {
                "operationId": "openapi",
                "summary": "This document",
                "responses": {"200": {"description": "This document", "content": _JSON}},
            }
        },
    }
    if settings.enabled:
        paths = {"/api/sessions/{session_id}/chat": {"post": _CHAT}, **paths}
    return {
        "openapi": "3.1.0",
        "info": {"title": "turnwire", "version": __version__, "license": {"name": "MIT"}},
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Refusal": _REFUSAL, "Message": _MESSAGE, "ChatBody": _BODY},
        },
    }


def _text(summary: str, statuses: dict[str, str]) -> dict[str, Any]:
    content = {"text/plain": {"schema": {"type": "string"}}}
    return {
        "operationId": summary.replace(" ", "_").lower(),
        "summary": summary,
        "responses": {
            status: {"description": what, "content": content} for status, what in statuses.items()
        },
    }


_JSON: dict[str, Any] = {"application/json": {"schema": {"type": "object"}}}

_REFUSAL = {
    "type": "object",
    "required": ["error", "code", "requestId"],
    "additionalProperties": False,
    "properties": {
        "error": {"type": "string"},
        "code": {"enum": sorted({"internal", *(refused.code for refused in CHAT_REFUSALS)})},
        "requestId": {"type": "string"},
    },
}

_MESSAGE = {
    "type": "object",
    "required": ["role"],
    "properties": {
        "id": {"type": "string"},
        "role": {"enum": ["user", "assistant", "system"]},
        "parts": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"type": "string"}, "text": {"type": "string"}},
            },
        },
        "content": {"type": "string", "description": "Instead of parts (AI SDK 4)"},
    },
}

_MESSAGE_REF = {"$ref": "#/components/schemas/Message"}

_BODY = {
    "type": "object",
    "properties": {
        "messages": {"type": "array", "minItems": 1, "items": _MESSAGE_REF},
        "message": {**_MESSAGE_REF, "description": "Instead of messages: the last one alone"},
        "id": {"type": "string"},
        "trigger": {"type": "string"},
        "messageId": {"type": "string"},
    },
    "anyOf": [{"required": ["messages"]}, {"required": ["message"]}],
}


def _query(name: str, default: str) -> dict[str, Any]:
    schema = {"type": "string", "default": default, "minLength": 1, "maxLength": 256}
    return {"name": name, "in": "query", "required": False, "schema": schema}


_CHAT: dict[str, Any] = {
    "operationId": "chat",
    "summary": "One turn: a prompt in, the AI SDK UI message stream out",
    "security": [{"token": []}],
    "parameters": [
        {
            "name": "session_id",
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,128}$"},
        },
        _query("channelType", "web"),
        _query("channelId", "default"),
    ],
    "requestBody": {
        "required": True,
        "content": {
            media_type: {"schema": {"$ref": "#/components/schemas/ChatBody"}}
            for media_type in ("application/json", "text/plain")
        },
    },
    "responses": {
        "200": {
            "description": "The stream; errors of the agent are told in it",
            "headers": {
                "x-vercel-ai-ui-message-stream": {"schema": {"const": "v1"}},
                "x-request-id": {"schema": {"type": "string"}},
            },
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        "500": {
            "description": "Internal error",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
        },
        **{
            str(refused.status): {
                "description": getattr(refused, "public", "The body is malformed"),
                "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}
                },
            }
            for refused in CHAT_REFUSALS
        },
    },
}
