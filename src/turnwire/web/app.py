"""The composition root: settings to an ASGI application."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import assert_never

import structlog
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from turnwire.core.room import Rooms
from turnwire.dialects import DIALECTS
from turnwire.relay.budget import Budget
from turnwire.relay.dialler import Dialler
from turnwire.relay.streams import Streams
from turnwire.settings import Settings, agent_tls, keys, origins
from turnwire.telemetry import Telemetry
from turnwire.web.access import Access, ClaimsAccess, OpenAccess
from turnwire.web.access_cache import CachedAccess
from turnwire.web.admission import Admission
from turnwire.web.chat import Chat
from turnwire.web.control_plane import ControlPlane
from turnwire.web.cors import Cors
from turnwire.web.errands import AnswerQuestion, Messages, StopTurn
from turnwire.web.gateway import Gateway, attachment_limits, limits
from turnwire.web.health import Health
from turnwire.web.identity import Identity, JwtIdentity, KeySource, OpaqueIdentity, StaticKeys
from turnwire.web.jwks import Jwks
from turnwire.web.openapi import document
from turnwire.web.rates import Rates
from turnwire.web.refusals import on_crash, on_http_exception
from turnwire.web.resume import Resume

_log = structlog.get_logger("turnwire")

SESSION_PATH = "/api/sessions/{session_id}"
CHAT_PATH = f"{SESSION_PATH}/chat"


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
    """Build the gateway. Whoever calls may bring parts of its own.

    What it opens while it serves, its lifespan closes.
    """
    closing = AsyncExitStack()
    dialect = DIALECTS[settings.dialect]
    gateway = Gateway(
        settings=settings,
        dialect=dialect,
        limits=limits(settings, dialect),
        attachments=attachment_limits(settings),
        identity=identity or _identity(settings, closing),
        access=access or _access(settings, closing),
        dialler=dialler or new_dialler(settings),
        rooms=Rooms(),
        rates=Rates(settings.turns_per_minute, settings.rates_url),
        admission=(admission := Admission(settings.lag_s)),
        streams=new_streams(settings) if streams is None else streams,  # empty ones are false
        errands=new_streams(settings),
        telemetry=telemetry or Telemetry(CollectorRegistry()),
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with closing:
            admission.start()
            closing.callback(admission.stop)
            loop = asyncio.get_running_loop()
            # Asked in the thread that answers `/metrics`.
            gateway.telemetry.tasks.set_function(lambda: len(asyncio.all_tasks(loop)))
            yield

    app = Starlette(
        lifespan=lifespan,
        routes=_routes(gateway, health or Health()),
        exception_handlers={HTTPException: on_http_exception, Exception: on_crash},
    )
    # A redirect's target would be made from the request's `Host`, and without TLS behind a proxy.
    app.router.redirect_slashes = False
    if allowed := origins(settings):
        # Around all of it, the answer to a crash too, which Starlette's own place for it is not.
        app.middleware_stack = Cors(app.build_middleware_stack(), allowed)
    return app


def new_dialler(settings: Settings) -> Dialler:
    return Dialler(
        frame_bytes=settings.frame_bytes,
        user_timeout_s=settings.stall_s,
        tls=agent_tls(settings),
        budget=Budget(settings.held_bytes),
    )


def new_streams(settings: Settings) -> Streams:
    return Streams(most=settings.max_streams, most_per_user=settings.max_streams_per_user)


def _routes(gateway: Gateway, health: Health) -> Sequence[Route]:
    async def openapi(_: Request) -> Response:
        headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
        return JSONResponse(document(gateway.settings), headers=headers)

    always = [
        Route("/healthz", health.live, methods=["GET"]),
        Route("/readyz", health.ready, methods=["GET"]),
        Route("/openapi.json", openapi, methods=["GET"]),
    ]
    if not gateway.settings.enabled:
        _log.warning("the chat routes do not exist: TURNWIRE_ENABLED is false")
        return always
    return [
        Route(CHAT_PATH, Chat(gateway), methods=["POST"]),
        Route(f"{CHAT_PATH}/{{chat_id}}/stream", Resume(gateway), methods=["GET"]),
        Route(f"{SESSION_PATH}/stop", StopTurn(gateway), methods=["POST"]),
        Route(f"{SESSION_PATH}/answer", AnswerQuestion(gateway), methods=["POST"]),
        Route(f"{SESSION_PATH}/messages", Messages(gateway), methods=["GET"]),
        *always,
    ]


def _identity(settings: Settings, closing: AsyncExitStack) -> Identity:
    match settings.auth:
        case "opaque":
            return OpaqueIdentity()
        case "jwt":
            return JwtIdentity(
                _keys(settings, closing),
                algorithm=settings.jwt_algorithm,
                issuer=settings.jwt_issuer,
                audience=settings.jwt_audience,
                leeway_s=settings.jwt_leeway_s,
            )
        case _:
            assert_never(settings.auth)


def _keys(settings: Settings, closing: AsyncExitStack) -> KeySource:
    if not settings.jwt_jwks_url:
        return StaticKeys(keys(settings))
    jwks = Jwks(settings.jwt_jwks_url, settings.jwt_algorithm, within_s=settings.dial_s)
    closing.push_async_callback(jwks.aclose)
    return jwks


def _access(settings: Settings, closing: AsyncExitStack) -> Access:
    match settings.access:
        case "claims":
            return ClaimsAccess()
        case "open":
            return OpenAccess()
        case "http":
            control_plane = ControlPlane(settings.access_url, within_s=settings.dial_s)
            closing.push_async_callback(control_plane.aclose)
            return CachedAccess(control_plane, for_s=settings.access_cache_s)
        case _:
            assert_never(settings.access)
