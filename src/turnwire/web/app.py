"""The composition root: settings to an ASGI application."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import assert_never

import structlog
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from turnwire.core.dialect import Dialect
from turnwire.core.room import Rooms
from turnwire.dialects import DIALECTS
from turnwire.relay.budget import Budget
from turnwire.relay.dialler import Dialler
from turnwire.relay.filing import Filing
from turnwire.relay.streams import Streams
from turnwire.settings import Settings, keys, origins, trusted_proxies
from turnwire.telemetry import Telemetry
from turnwire.tls import agent_tls
from turnwire.web.access import Access, ClaimsAccess, OpenAccess
from turnwire.web.access_cache import CachedAccess
from turnwire.web.admission import Admission
from turnwire.web.chat import Chat
from turnwire.web.control_plane import ControlPlane
from turnwire.web.cors import Cors
from turnwire.web.direct import Direct
from turnwire.web.drifting import Drifts
from turnwire.web.errands import AnswerQuestion, Messages, StopTurn
from turnwire.web.forwarded import Proxies
from turnwire.web.gateway import Gateway, attachment_limits, limits
from turnwire.web.health import Health
from turnwire.web.identity import Identity, JwtIdentity, KeySource, OpaqueIdentity, StaticKeys
from turnwire.web.jwks import Jwks
from turnwire.web.metering import MeasuredAccess, meter
from turnwire.web.observing import Observers
from turnwire.web.openapi import document
from turnwire.web.rates import Rates
from turnwire.web.recorder import Recorder
from turnwire.web.refusals import on_crash, on_http_exception
from turnwire.web.resume import Resume
from turnwire.web.strangers import Strangers
from turnwire.web.tracing import Tracing

_log = structlog.get_logger("turnwire")


def create_app(
    settings: Settings,
    *,
    health: Health | None = None,
    streams: Streams | None = None,
    telemetry: Telemetry | None = None,
    identity: Identity | None = None,
    access: Access | None = None,
    dialler: Dialler | None = None,
    tracing: Tracing | None = None,
) -> Starlette:
    """Build the gateway. Whoever calls may bring parts of its own.

    What it opens while it serves, its lifespan closes.
    """
    closing = AsyncExitStack()
    telemetry = telemetry or Telemetry(CollectorRegistry())
    dialect = DIALECTS[settings.dialect]
    gateway = Gateway(
        settings=settings,
        dialect=dialect,
        limits=limits(settings, dialect),
        attachments=attachment_limits(settings),
        identity=identity or _identity(settings, closing, telemetry),
        access=access or _access(settings, closing, telemetry),
        dialler=dialler or new_dialler(settings),
        rooms=Rooms(apart=settings.sessions == "apart"),
        rates=Rates(
            settings.turns_per_minute, settings.rates_url, tell=telemetry.rates_uncounted.inc
        ),
        proxies=Proxies(trusted_proxies(settings)),
        admission=(admission := Admission(settings.lag_s, telemetry.lag.observe)),
        streams=new_streams(settings) if streams is None else streams,  # empty ones are false
        errands=new_streams(settings),
        telemetry=telemetry,
        observers=_observers(settings, dialect, telemetry, closing),
        tracing=tracing or _tracing(settings, closing),
    )
    health = health or Health()
    meter(gateway, health)

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
        routes=_routes(gateway, health),
        middleware=[Middleware(Direct, endpoint=Chat(gateway), path=Chat.path)]
        if settings.enabled
        else [],
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
        budget=Budget(settings.held_bytes, settings.held_bytes_per_user),
    )


def new_streams(settings: Settings) -> Streams:
    return Streams(most=settings.max_streams, most_per_user=settings.max_streams_per_user)


def _routes(gateway: Gateway, health: Health) -> Sequence[Route]:
    # Made once, and shared by all who ask: they need no token.
    described = JSONResponse(document(gateway.settings)).body

    async def openapi(_: Request) -> Response:
        headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
        return Response(described, headers=headers, media_type="application/json")

    always = [
        Route("/healthz", health.live, methods=["GET"]),
        Route("/readyz", health.ready, methods=["GET"]),
        Route("/openapi.json", openapi, methods=["GET"]),
    ]
    if not gateway.settings.enabled:
        _log.warning("every chat route is a 404: TURNWIRE_ENABLED is not true")
        return always
    resume = Route(Resume.path, Resume(gateway), methods=["GET"])
    # A HEAD is answered by its headers, and what comes next on its connection is not behind it.
    (resume.methods or set()).discard("HEAD")
    return [
        Route(Chat.path, Chat(gateway), methods=["POST"]),
        resume,
        Route(StopTurn.path, StopTurn(gateway), methods=["POST"]),
        Route(AnswerQuestion.path, AnswerQuestion(gateway), methods=["POST"]),
        Route(Messages.path, Messages(gateway), methods=["GET"]),
        *always,
    ]


def _tracing(settings: Settings, closing: AsyncExitStack) -> Tracing:
    if settings.tracing == "off":
        return Tracing()
    # Only here, since an extra brings what it imports.
    otel = importlib.import_module("turnwire.web.otel")
    tracing: Tracing = otel.otlp(settings.agent_url)
    closing.push_async_callback(tracing.aclose)
    return tracing


def _observers(
    settings: Settings, dialect: Dialect, telemetry: Telemetry, closing: AsyncExitStack
) -> Observers:
    filing = Filing()
    closing.push_async_callback(filing.aclose)
    drifts = recorder = None
    if settings.drift:
        samples = Path(settings.drift_samples) if settings.drift_samples else None
        drifts = Drifts(dialect, telemetry.drift, samples, filing)
    if settings.record_dir:
        recorder = Recorder(settings, dialect, filing, telemetry.recordings)
    return Observers(drifts, recorder)


def _identity(settings: Settings, closing: AsyncExitStack, telemetry: Telemetry) -> Identity:
    match settings.auth:
        case "opaque":
            return OpaqueIdentity()
        case "jwt":
            return JwtIdentity(
                _keys(settings, closing, telemetry),
                algorithm=settings.jwt_algorithm,
                issuer=settings.jwt_issuer,
                audience=settings.jwt_audience,
                leeway_s=settings.jwt_leeway_s,
            )
        case _:
            assert_never(settings.auth)


def _keys(settings: Settings, closing: AsyncExitStack, telemetry: Telemetry) -> KeySource:
    if not settings.jwt_jwks_url:
        # Where there are no chat routes there need be no key, and nobody asks for one.
        return StaticKeys(keys(settings) if settings.enabled or settings.jwt_key else [])
    jwks = Jwks(
        settings.jwt_jwks_url,
        settings.jwt_algorithm,
        within_s=settings.dial_s,
        tell=lambda result: telemetry.key_sets.labels(result).inc(),
    )
    telemetry.key_set_age.set_function(lambda: jwks.age_s)
    closing.push_async_callback(jwks.aclose)
    return jwks


def _access(settings: Settings, closing: AsyncExitStack, telemetry: Telemetry) -> Access:
    match settings.access:
        case "claims":
            return ClaimsAccess()
        case "open":
            return OpenAccess()
        case "http":
            control_plane = ControlPlane(settings.access_url, within_s=settings.dial_s)
            closing.push_async_callback(control_plane.aclose)
            asked: Access = MeasuredAccess(control_plane, telemetry.access)
            if settings.auth == "opaque":  # of a signed one it is known who made it
                asked = Strangers(asked, within_s=settings.dial_s)
            return CachedAccess(asked, for_s=settings.access_cache_s)
        case _:
            assert_never(settings.access)
