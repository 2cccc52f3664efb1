"""A refusal to its response: short JSON with fixed text, since clients show it as it is."""

from collections.abc import Mapping

import msgspec
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request as StarletteRequest
from starlette.responses import Response

from turnwire.errors import MethodNotAllowed, NotFound, Refused
from turnwire.web.request import Request

_log = structlog.get_logger("turnwire.http")


def refusal(refused: Refused | type[Refused], request_id: str) -> Response:
    """The response that tells a client why there is no stream."""
    return _response(refused.status, refused.public, refused.code, request_id, refused.headers)


def on_http_exception(request: StarletteRequest, exc: Exception) -> Response:
    """Starlette's own refusals (no such route, wrong method) in our words."""
    assert isinstance(exc, HTTPException)
    wrong_method = exc.status_code == MethodNotAllowed.status
    response = refusal(MethodNotAllowed if wrong_method else NotFound, Request(request.scope).id)
    response.headers.update(exc.headers or {})
    return response


def on_crash(request: StarletteRequest, exc: Exception) -> Response:
    """A bug of ours. The log has the traceback; the client has the request id."""
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
