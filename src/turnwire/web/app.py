"""The composition root: builds the ASGI application from the settings."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TypedDict, assert_never

import structlog
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from turnwire.config.dialect_loading import find
from turnwire.config.effective import turn_log_place
from turnwire.config.lists import keys, origins, trusted_proxies
from turnwire.config.settings import Settings
from turnwire.config.tls import agent_tls
from turnwire.core.agent import Dialect
from turnwire.core.operations import OperationName
from turnwire.core.session_group import SessionGroups
from turnwire.core.ui_stream.output import StreamOptions
from turnwire.metrics import Telemetry
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.relay.file_writer import FileWriter
from turnwire.relay.memory_budget import Budget
from turnwire.relay.registry import RequestRegistry
from turnwire.relay.rounds import Rounds
from turnwire.relay.turn_log.memory import MemoryTurnLog
from turnwire.relay.turn_log.patient_claims import PatientClaims
from turnwire.relay.turn_log.port import TurnLog
from turnwire.web.auth.access import Access, ClaimsAccess, OpenAccess
from turnwire.web.auth.access_cache import CachedAccess
from turnwire.web.auth.control_plane import ControlPlane
from turnwire.web.auth.identity import Identity, JwtIdentity, KeySource, OpaqueIdentity, StaticKeys
from turnwire.web.auth.jwks import Jwks
from turnwire.web.auth.unknown_tokens import UnknownTokens
from turnwire.web.context import (
    AppContext,
    attachment_limits,
    client_history,
    dialect_options,
    limits,
)
from turnwire.web.gauges import MeasuredAccess, bind_gauges
from turnwire.web.health import Health
from turnwire.web.load_shedding import Admission
from turnwire.web.observe.drift_monitor import DriftMonitor
from turnwire.web.observe.flight_recorder import FlightRecorder
from turnwire.web.observe.observers import Observers
from turnwire.web.observe.tracing import Tracing
from turnwire.web.rate_limit import Rates
from turnwire.web.routes.chat import Chat
from turnwire.web.routes.error_responses import on_crash, on_http_exception
from turnwire.web.routes.openapi import document
from turnwire.web.routes.operations import AnswerQuestion, Messages, StopTurn
from turnwire.web.routes.resume import Resume
from turnwire.web.server.chat_shortcut import ChatShortcut
from turnwire.web.server.cors import Cors
from turnwire.web.trusted_proxies import Proxies
from turnwire.web.used_approvals import UsedApprovals

_log = structlog.get_logger("turnwire")


def create_app(
    settings: Settings,
    *,
    health: Health | None = None,
    streams: RequestRegistry | None = None,
    telemetry: Telemetry | None = None,
    identity: Identity | None = None,
    access: Access | None = None,
    dialler: Dialler | None = None,
    tracing: Tracing | None = None,
) -> Starlette:
    """Build the gateway. An argument replaces the part that the settings would build.

    The lifespan of the application closes everything that the application opens.
    """
    exit_stack = AsyncExitStack()
    telemetry = telemetry or Telemetry(CollectorRegistry())
    dialect = find(settings.dialect)
    dialler = dialler or new_dialler(settings)
    app_context = AppContext(
        settings=settings,
        dialect=dialect,
        limits=limits(settings, dialect),
        stream_options=StreamOptions(event_lines=settings.event_lines, usage=settings.usage),
        attachments=attachment_limits(settings, dialect),
        history=client_history(settings, dialect),
        dialect_options=dialect_options(settings),
        identity=identity or _identity(settings, exit_stack, telemetry),
        access=access or _access(settings, exit_stack, telemetry),
        dialler=dialler,
        transport=TRANSPORTS[dialect.transport](dialler, frame_bytes=settings.frame_bytes),
        session_groups=SessionGroups(apart=settings.sessions == "apart"),
        turn_log=_turn_log(settings, dialler.rounds, telemetry, exit_stack),
        patient_claims=PatientClaims(),
        used_approvals=UsedApprovals(settings.turn_s),
        rates=Rates(
            settings.turns_per_minute, settings.rates_url, on_failure=telemetry.rates_uncounted.inc
        ),
        proxies=Proxies(trusted_proxies(settings)),
        admission=(admission := Admission(settings.lag_s, telemetry.lag.observe)),
        # `is None`, since an empty registry is false
        streams=new_registry(settings) if streams is None else streams,
        operations=new_registry(settings),
        telemetry=telemetry,
        observers=_observers(settings, dialect, telemetry, exit_stack),
        tracing=tracing or _tracing(settings, dialect, exit_stack),
    )
    health = health or Health()
    bind_gauges(app_context, health)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with exit_stack:
            admission.start()
            exit_stack.callback(admission.stop)
            exit_stack.callback(app_context.transport.close)
            loop = asyncio.get_running_loop()
            # Called in the thread that answers `/metrics`.
            app_context.telemetry.tasks.set_function(lambda: len(asyncio.all_tasks(loop)))
            yield

    app = Starlette(
        lifespan=lifespan,
        routes=_routes(app_context, health),
        middleware=[Middleware(ChatShortcut, endpoint=Chat(app_context), path=Chat.path)]
        if settings.enabled
        else [],
        exception_handlers={HTTPException: on_http_exception, Exception: on_crash},
    )
    # A redirect would copy the `Host` header, and would say `http` behind a proxy with TLS.
    app.router.redirect_slashes = False
    if allowed := origins(settings):
        # Around the whole stack: Starlette's `middleware` would not cover the response to a crash.
        app.middleware_stack = Cors(app.build_middleware_stack(), allowed)
    return app


def new_dialler(settings: Settings) -> Dialler:
    """Return the dialler of the process, with its memory budget."""
    return Dialler(
        user_timeout_s=settings.stall_s,
        tls=agent_tls(settings),
        budget=Budget(settings.held_bytes, settings.held_bytes_per_user),
    )


def new_registry(settings: Settings) -> RequestRegistry:
    """Return an empty registry with the limits of the settings, for streams or for operations."""
    return RequestRegistry(most=settings.max_streams, most_per_user=settings.max_streams_per_user)


def _routes(app_context: AppContext, health: Health) -> Sequence[Route]:
    # Encoded once, for all requests: the document needs no token.
    operations = app_context.dialect.operations
    if app_context.turn_log is not None:
        operations |= {OperationName.RESUME}
    openapi_json = JSONResponse(document(app_context.settings, operations)).body

    async def openapi(_: Request) -> Response:
        headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
        return Response(openapi_json, headers=headers, media_type="application/json")

    public_routes = [
        Route("/healthz", health.live, methods=["GET"]),
        Route("/readyz", health.ready, methods=["GET"]),
        Route("/openapi.json", openapi, methods=["GET"]),
    ]
    if not app_context.settings.enabled:
        _log.warning("every chat route is a 404: TURNWIRE_ENABLED is not true")
        return public_routes
    resume = Route(Resume.path, Resume(app_context), methods=["GET"])
    # No HEAD: the response to a HEAD has no body, so the client would read the chunks of a stream
    # as the next response on the connection.
    (resume.methods or set()).discard("HEAD")
    return [
        Route(Chat.path, Chat(app_context), methods=["POST"]),
        resume,
        Route(StopTurn.path, StopTurn(app_context), methods=["POST"]),
        Route(AnswerQuestion.path, AnswerQuestion(app_context), methods=["POST"]),
        Route(Messages.path, Messages(app_context), methods=["GET"]),
        *public_routes,
    ]


class _LogBounds(TypedDict):
    """What both kinds of turn log take from the settings."""

    turn_bytes: int
    total_bytes: int
    keep_s: float
    session_keep_s: float
    on_too_long: Callable[[], object]


def _turn_log(
    settings: Settings, rounds: Rounds, telemetry: Telemetry, exit_stack: AsyncExitStack
) -> TurnLog | None:
    place = turn_log_place(settings)
    if place == "off":
        return None
    bounds: _LogBounds = {
        "turn_bytes": settings.turn_log_bytes,
        "total_bytes": settings.turn_log_total_bytes,
        "keep_s": settings.turn_log_keep_s,
        "session_keep_s": settings.session_keep_s,
        "on_too_long": telemetry.turn_log_too_long.inc,
    }
    turn_log: TurnLog
    if place == "memory":
        turn_log = MemoryTurnLog(rounds, **bounds)
    else:
        # Imported only here: its library comes with an extra.
        store = importlib.import_module("turnwire.relay.turn_log.redis.store")
        on_failure = telemetry.turn_log_failures.inc
        turn_log = store.RedisTurnLog(place, rounds, on_failure=on_failure, **bounds)
    exit_stack.push_async_callback(turn_log.aclose)
    return turn_log


def _tracing(settings: Settings, dialect: Dialect, exit_stack: AsyncExitStack) -> Tracing:
    if settings.tracing == "off":
        return Tracing()
    # Imported only here: its dependencies come with an extra.
    otel = importlib.import_module("turnwire.web.observe.otel")
    tracing: Tracing = otel.otlp(settings.agent_url, TRANSPORTS[dialect.transport])
    exit_stack.push_async_callback(tracing.aclose)
    return tracing


def _observers(
    settings: Settings, dialect: Dialect, telemetry: Telemetry, exit_stack: AsyncExitStack
) -> Observers:
    file_writer = FileWriter()
    exit_stack.push_async_callback(file_writer.aclose)
    drift_monitor = recorder = None
    if settings.drift:
        samples = Path(settings.drift_samples) if settings.drift_samples else None
        drift_monitor = DriftMonitor(dialect, telemetry.drift, samples, file_writer)
    if settings.record_dir:
        recorder = FlightRecorder(settings, dialect, file_writer, telemetry.recordings)
    return Observers(drift_monitor, recorder)


def _identity(settings: Settings, exit_stack: AsyncExitStack, telemetry: Telemetry) -> Identity:
    match settings.auth:
        case "opaque":
            return OpaqueIdentity()
        case "jwt":
            return JwtIdentity(
                _keys(settings, exit_stack, telemetry),
                algorithm=settings.jwt_algorithm,
                issuer=settings.jwt_issuer,
                audience=settings.jwt_audience,
                leeway_s=settings.jwt_leeway_s,
            )
        case _:
            assert_never(settings.auth)


def _keys(settings: Settings, exit_stack: AsyncExitStack, telemetry: Telemetry) -> KeySource:
    if not settings.jwt_jwks_url:
        # Without chat routes no key is needed: an empty one is allowed.
        return StaticKeys(keys(settings) if settings.enabled or settings.jwt_key else [])
    jwks = Jwks(
        settings.jwt_jwks_url,
        settings.jwt_algorithm,
        timeout_s=settings.dial_s,
        on_fetch=lambda result: telemetry.key_sets.labels(result).inc(),
    )
    telemetry.key_set_age.set_function(lambda: jwks.age_s)
    exit_stack.push_async_callback(jwks.aclose)
    return jwks


def _access(settings: Settings, exit_stack: AsyncExitStack, telemetry: Telemetry) -> Access:
    match settings.access:
        case "claims":
            return ClaimsAccess()
        case "open":
            return OpenAccess()
        case "http":
            control_plane = ControlPlane(settings.access_url, timeout_s=settings.dial_s)
            exit_stack.push_async_callback(control_plane.aclose)
            access: Access = MeasuredAccess(control_plane, telemetry.access)
            if settings.auth == "opaque":  # a signed token was already verified
                access = UnknownTokens(access, timeout_s=settings.dial_s)
            return CachedAccess(access, ttl_s=settings.access_cache_s)
        case _:
            assert_never(settings.access)
