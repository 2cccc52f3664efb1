"""The composition root: settings to an ASGI application."""

from collections.abc import Sequence

import structlog
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from turnwire.dialects import DIALECTS
from turnwire.relay.dialler import Dialler
from turnwire.relay.streams import Streams
from turnwire.settings import Settings, keys
from turnwire.telemetry import Telemetry
from turnwire.web.access import Access, ClaimsAccess, OpenAccess
from turnwire.web.chat import Chat
from turnwire.web.gateway import Gateway, limits
from turnwire.web.health import Health
from turnwire.web.identity import Identity, JwtIdentity
from turnwire.web.openapi import document
from turnwire.web.refusals import on_crash, on_http_exception

_log = structlog.get_logger("turnwire")

CHAT_PATH = "/api/sessions/{session_id}/chat"


def create_app(
    settings: Settings,
    *,
    health: Health | None = None,
    streams: Streams | None = None,
    telemetry: Telemetry | None = None,
    identity: Identity | None = None,
    access: Access | None = None,
    dialler: Dialler | None = None,
) -> Starlette:
    """Build the gateway. Whoever calls may bring parts of its own."""
    dialect = DIALECTS[settings.dialect]
    gateway = Gateway(
        settings=settings,
        dialect=dialect,
        limits=limits(settings, dialect),
        identity=identity or _identity(settings),
        access=access or _access(settings),
        dialler=dialler
        or Dialler(frame_bytes=settings.frame_bytes, user_timeout_s=settings.stall_s),
        streams=new_streams(settings) if streams is None else streams,  # empty ones are false
        telemetry=telemetry or Telemetry(CollectorRegistry()),
    )
    app = Starlette(
        routes=_routes(gateway, health or Health()),
        exception_handlers={HTTPException: on_http_exception, Exception: on_crash},
    )
    # A redirect's target would be made from the request's `Host`, and without TLS behind a proxy.
    app.router.redirect_slashes = False
    return app


def new_streams(settings: Settings) -> Streams:
    return Streams(most=settings.max_streams, most_per_user=settings.max_streams_per_user)


def _routes(gateway: Gateway, health: Health) -> Sequence[Route]:
    async def openapi(_: Request) -> Response:
        return JSONResponse(document(gateway.settings), headers={"cache-control": "no-store"})

    always = [
        Route("/healthz", health.live, methods=["GET"]),
        Route("/readyz", health.ready, methods=["GET"]),
        Route("/openapi.json", openapi, methods=["GET"]),
    ]
    if not gateway.settings.enabled:
        _log.warning("the chat routes do not exist: TURNWIRE_ENABLED is false")
        return always
    return [Route(CHAT_PATH, Chat(gateway), methods=["POST"]), *always]


def _identity(settings: Settings) -> Identity:
    return JwtIdentity(
        keys(settings),
        algorithm=settings.jwt_algorithm,
        issuer=settings.jwt_issuer,
        audience=settings.jwt_audience,
        leeway_s=settings.jwt_leeway_s,
    )


def _access(settings: Settings) -> Access:
    return OpenAccess() if settings.access == "open" else ClaimsAccess()
