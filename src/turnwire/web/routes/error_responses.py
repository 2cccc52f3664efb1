"""Responses for errors: short JSON with a fixed text, because clients show the text as it is."""

from collections.abc import Mapping

import msgspec
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request as StarletteRequest
from starlette.responses import Response

from turnwire.errors import MethodNotAllowed, NotFound, RequestRefused
from turnwire.web.request import Request

_log = structlog.get_logger("turnwire.http")


def error_response(error: RequestRefused | type[RequestRefused], request_id: str) -> Response:
    """Return the response for an HTTP error, or for an error class with a fixed text."""
    return _response(error.status, error.public, error.code, request_id, error.headers)


def on_http_exception(request: StarletteRequest, exc: Exception) -> Response:
    """Answer Starlette's own errors (unknown route, wrong method) in the gateway's format."""
    assert isinstance(exc, HTTPException)
    wrong_method = exc.status_code == MethodNotAllowed.status
    response = error_response(
        MethodNotAllowed if wrong_method else NotFound, Request(request.scope).id
    )
    response.headers.update(exc.headers or {})
    return response


def on_crash(request: StarletteRequest, exc: Exception) -> Response:
    """Answer a bug of the gateway. The log gets the traceback; the client gets the request id."""
    request_id = Request(request.scope).id
    _log.error("crashed", request_id=request_id, exc_info=exc)
    return _response(500, "Internal error", "internal", request_id, {})


def _response(
    status: int, public: str, code: str, request_id: str, headers: Mapping[str, str]
) -> Response:
    return Response(
        msgspec.json.encode({"error": public, "code": code, "requestId": request_id}),
        status,
        {
            "content-type": "application/json",
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
            "x-request-id": request_id,
            **headers,
        },
    )
