"""URL and headers of the agent for a request, and the HTTP errors for the agent's rejections."""

from collections.abc import Mapping
from typing import Final

from turnwire import __version__
from turnwire.config.effective import session_url
from turnwire.config.headers import agent_headers, identity_headers
from turnwire.core.connect import ConnectRequest
from turnwire.core.operations import OperationName
from turnwire.core.rejection import Rejection
from turnwire.errors import (
    AnotherTurn,
    BadRequest,
    NotFound,
    NotSupported,
    QuestionClosed,
    RequestRefused,
    SessionConflict,
    TurnTooLong,
    Unauthorized,
    Unavailable,
)
from turnwire.relay.agent.port import AgentTarget
from turnwire.web.context import AppContext
from turnwire.web.routes.endpoint import RequestContext

_CONNECTION_REFUSALS: Final[Mapping[int, type[RequestRefused]]] = {
    401: Unauthorized,
    404: NotFound,
}
_REQUEST_REFUSALS: Final[Mapping[int, type[RequestRefused]]] = {
    **_CONNECTION_REFUSALS,
    403: NotFound,
}
"""The statuses of a dial that are about the user, if it has the user's own token: their errors.

The second one is for a transport whose status answers the request (`status_is_answer`)."""

_BUSY: Final = frozenset({429, 503, 529})
"""Statuses of such a transport that ask to try again later."""

_HTTP_ERRORS: Final[dict[Rejection, type[RequestRefused]]] = {
    Rejection.SESSION: SessionConflict,
    Rejection.UNNAMED: SessionConflict,
    Rejection.OTHER_TURN: AnotherTurn,
    Rejection.SHARED: AnotherTurn,
    Rejection.UNKNOWN: NotFound,
    Rejection.CLOSED: QuestionClosed,
    Rejection.UNSIGNED: BadRequest,
    Rejection.NO_VERDICT: BadRequest,
    Rejection.UNSUPPORTED: NotSupported,
    Rejection.SILENT: Unavailable,
    Rejection.TOO_LONG: TurnTooLong,
    # For a continuation of a turn that is over. A resume answers 204 instead.
    Rejection.NO_TURN: QuestionClosed,
}


def target_for(
    app_context: AppContext, context: RequestContext, connect: ConnectRequest
) -> AgentTarget:
    """Return where the agent of this request is, and the whole request that opens a connection."""
    return AgentTarget(
        session_url(app_context.settings, context.request.session_id, connect.path),
        _headers(app_context, context, connect),
        connect.method,
        connect.body,
        connect.offered_protocols,
        connect.accept,
    )


def check_support(app_context: AppContext, operation: OperationName) -> None:
    """Check before a dial that the agent's wire has this operation.

    Raises:
        NotSupported: it has not.

    """
    if operation not in app_context.dialect.operations:
        raise http_error_for(Rejection.UNSUPPORTED)


def http_error_for(rejection: Rejection) -> RequestRefused:
    """Return the HTTP error for a rejection by the agent's side."""
    return _HTTP_ERRORS[rejection](rejection.value)


def is_http_error(status: int | None, *, is_answer: bool) -> bool:
    """Whether a status of a dial is answered with an HTTP error, and not in the stream.

    `is_answer`: the transport's `status_is_answer`.
    """
    return status in _refusals(is_answer=is_answer) or (is_answer and status in _BUSY)


def http_error_for_status(
    status: int, auth: str, *, is_answer: bool, retry_after_s: float | None = None
) -> RequestRefused:
    """Return the HTTP error for a dial that the agent answered with such a status.

    If the gateway forwards the user's own token (`auth`), it is the status that this user gets.
    Otherwise it is 503. An operation has no stream for an error, so it calls this with any status.
    """
    refusals = _refusals(is_answer=is_answer)
    if auth == "forward" and status in refusals:
        return refusals[status](f"the agent answered {status} to the user's token")
    return Unavailable(f"the agent answered {status} to the gateway", retry_after_s)


def _refusals(*, is_answer: bool) -> Mapping[int, type[RequestRefused]]:
    return _REQUEST_REFUSALS if is_answer else _CONNECTION_REFUSALS


def _headers(
    app_context: AppContext, context: RequestContext, connect: ConnectRequest
) -> dict[str, str]:
    settings = app_context.settings
    headers = {
        **connect.headers,
        **agent_headers(settings),
        "user-agent": f"turnwire/{__version__}",
        "x-request-id": context.request.id,
        **context.request.trace.headers,
    }
    return headers | identity_headers(settings, context.caller.token, context.user_id)
