"""What every endpoint does first: who is asking, may they, and a refusal where not."""

import asyncio
from abc import ABC, abstractmethod
from typing import ClassVar, Final

import structlog
from msgspec import Struct
from starlette.types import Receive, Scope, Send

from turnwire.errors import Refused
from turnwire.web.access import Grant, Role, require
from turnwire.web.gateway import Gateway
from turnwire.web.identity import Caller, bearer_token
from turnwire.web.refusals import refusal
from turnwire.web.request import ClientGoneError, Request

_log = structlog.get_logger("turnwire.http")

SESSION_PATH: Final = "/api/sessions/{session_id}"
CHAT_PATH: Final = f"{SESSION_PATH}/chat"


class Visit(Struct, frozen=True):
    """One admitted request: whose it is, and when it came (on the loop's clock)."""

    request: Request
    caller: Caller
    grant: Grant
    arrived: float

    @property
    def user_id(self) -> str:
        return self.grant.user_id

    @property
    def room(self) -> tuple[str, str]:
        """The session, for what its streams share. Everybody's own orchestrator has one name."""
        session_id = self.request.session_id
        return session_id, self.user_id if session_id == "orchestrator" else ""


class Endpoint(ABC):
    """A plain ASGI callable: nothing stands between it and the server's `send`.

    Checks come in the order of spec section 2: the token, the session, and only
    then what the request says.
    """

    least: ClassVar[Role]
    """The role that it takes."""

    route: ClassVar[str]
    """What the metrics call it."""

    path: ClassVar[str]
    """Where it is."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._requests = gateway.telemetry.requests.labels(self.route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, self.gateway.proxies)
        telemetry = self.gateway.telemetry
        self._requests.inc()
        request.trace = trace = self.gateway.tracing.begin(
            request.trace_context,
            method=scope["method"],
            route=self.path,
            request_id=request.id,
            dialect=self.gateway.dialect.name,
        )
        if trace.trace_id is not None:  # of this request's task alone
            structlog.contextvars.bind_contextvars(trace_id=trace.trace_id)
        try:
            visit = await self._admit(request)
            trace.admitted(request.session_id)
            await self.serve(visit, receive, send)
        except Refused as refused:
            telemetry.refusals.labels(refused.code).inc()
            trace.refused(refused.status, refused.code)
            _log.info(
                "refused",
                code=refused.code,
                reason=str(refused),
                session_id=request.session_id,
                user_id=request.user_id,
                request_id=request.id,
                client=request.client,
            )
            await refusal(refused, request.id)(scope, receive, send)
        except ClientGoneError as gone:
            _log.info(str(gone), request_id=request.id)
        except Exception:
            telemetry.refusals.labels("internal").inc()
            trace.refused(500, "internal")
            raise
        finally:
            trace.end()

    @abstractmethod
    async def serve(self, visit: Visit, receive: Receive, send: Send) -> None:
        """Answer an admitted request.

        Raises:
            Refused: with a status instead.

        """

    def channel(self, visit: Visit, chat_id: str | None) -> tuple[str, str]:
        """The channel of a request. `chat_id` is the client's own id of the conversation.

        Raises:
            BadRequest: it is malformed.

        """
        own_threads = self.gateway.settings.threads == "chat"
        return visit.request.channel(chat_id if own_threads else None)

    async def _admit(self, request: Request) -> Visit:
        arrived = asyncio.get_running_loop().time()
        identity = self.gateway.identity
        caller = await identity.identify(bearer_token(request.headers(b"authorization")))
        request.user_id = caller.user_id
        access = self.gateway.access
        grant = await require(access, caller, request.session_id, self.least, request.id)
        request.user_id = grant.user_id
        return Visit(request, caller, grant, arrived)
