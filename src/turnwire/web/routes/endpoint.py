"""Base of the endpoints: authenticates, checks access, and answers refusals with HTTP errors."""

import asyncio
from abc import ABC, abstractmethod
from typing import ClassVar, Final

import structlog
from msgspec import Struct
from starlette.types import Receive, Scope, Send

from turnwire.core.requests import Channel
from turnwire.errors import RequestRefused
from turnwire.web.auth.access import Grant, Role, require
from turnwire.web.auth.identity import Caller, bearer_token
from turnwire.web.context import AppContext
from turnwire.web.request import ClientGoneError, Request
from turnwire.web.routes.error_responses import error_response

_log = structlog.get_logger("turnwire.http")

SESSION_PATH: Final = "/api/sessions/{session_id}"
CHAT_PATH: Final = f"{SESSION_PATH}/chat"


class RequestContext(Struct, frozen=True):
    """One authenticated and authorised request. `arrived` is seconds on the loop's clock."""

    request: Request
    caller: Caller
    grant: Grant
    arrived: float

    @property
    def user_id(self) -> str:
        return self.grant.user_id

    @property
    def session_key(self) -> tuple[str, str]:
        """The key of the session group. Each user has an own `orchestrator`: it adds the user."""
        session_id = self.request.session_id
        return session_id, self.user_id if session_id == "orchestrator" else ""


class Endpoint(ABC):
    """A plain ASGI application. It calls the server's `send` without a wrapper.

    It checks in this order: the token, then the session, then the rest of the
    request.
    """

    min_role: ClassVar[Role]
    """The lowest role that may use the endpoint."""

    route: ClassVar[str]
    """The label of the endpoint in the metrics."""

    path: ClassVar[str]
    """The path of the endpoint, as a Starlette pattern."""

    def __init__(self, app_context: AppContext) -> None:
        self.app_context = app_context
        self._requests = app_context.telemetry.requests.labels(self.route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, self.app_context.proxies)
        telemetry = self.app_context.telemetry
        self._requests.inc()
        request.trace = trace = self.app_context.tracing.begin(
            request.trace_context,
            method=scope["method"],
            route=self.path,
            request_id=request.id,
            dialect=self.app_context.dialect.name,
        )
        if trace.trace_id is not None:  # bound in the task of this request only
            structlog.contextvars.bind_contextvars(trace_id=trace.trace_id)
        try:
            context = await self._admit(request)
            trace.admitted(request.session_id)
            await self.serve(context, receive, send)
        except RequestRefused as error:
            telemetry.refusals.labels(error.code).inc()
            trace.refused(error.status, error.code)
            _log.info(
                "refused",
                code=error.code,
                reason=str(error),
                session_id=request.session_id,
                user_id=request.user_id,
                request_id=request.id,
                client=request.client,
            )
            await error_response(error, request.id)(scope, receive, send)
        except ClientGoneError as gone:
            _log.info(str(gone), request_id=request.id)
        except Exception:
            telemetry.refusals.labels("internal").inc()
            trace.refused(500, "internal")
            raise
        finally:
            trace.end()

    @abstractmethod
    async def serve(self, context: RequestContext, receive: Receive, send: Send) -> None:
        """Answer an admitted request.

        Raises:
            RequestRefused: answer with this HTTP error instead.

        """

    def channel(self, context: RequestContext, chat_id: str | None) -> Channel:
        """Return the channel of a request. `chat_id` is the client's id of the chat.

        Raises:
            BadRequest: the type or the id is malformed.

        """
        own_threads = self.app_context.settings.threads == "chat"
        return context.request.channel(chat_id if own_threads else None)

    async def _admit(self, request: Request) -> RequestContext:
        arrived = asyncio.get_running_loop().time()
        identity = self.app_context.identity
        caller = await identity.identify(bearer_token(request.headers(b"authorization")))
        request.user_id = caller.user_id
        access = self.app_context.access
        grant = await require(access, caller, request.session_id, self.min_role, request.id)
        request.user_id = grant.user_id
        return RequestContext(request, caller, grant, arrived)
