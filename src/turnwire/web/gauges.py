"""Binds gauges to the objects they read, creates all closed label sets at 0, and times `Access`.

A label that appears with its first count has no earlier value, so Prometheus cannot see that the
counter rose. Therefore each label of a closed set exists from the start, at 0.
"""

import time
from typing import Final

from prometheus_client import Histogram

from turnwire import errors
from turnwire.core.turn.outcome import Outcome
from turnwire.errors import RequestRefused, Unauthorized, Unavailable
from turnwire.metrics import Telemetry
from turnwire.relay.agent.failures import DialFailure
from turnwire.relay.agent.http.pool import HttpStats
from turnwire.relay.agent.http.transport import HttpTransport
from turnwire.web.auth.access import Access, Grant
from turnwire.web.auth.identity import Caller
from turnwire.web.auth.jwks import FETCH_RESULTS
from turnwire.web.context import AppContext
from turnwire.web.health import Health
from turnwire.web.server.server import LAST_BYTES_S

ROUTES: Final = ("chat", "resume", "stop", "answer", "messages")

INTERNAL: Final = "internal"
"""The code of a bug of the gateway. No class of `errors` has it."""

CODES: Final = (
    *sorted(
        error_class.code
        for error_class in vars(errors).values()
        if isinstance(error_class, type)
        and issubclass(error_class, RequestRefused)
        and error_class is not RequestRefused
    ),
    INTERNAL,
)

ACCESS_RESULTS: Final = ("granted", "denied", "unauthorized", "failed")

_NO_LIMIT: Final = float("inf")


def bind_gauges(app_context: AppContext, health: Health) -> None:
    """Bind each gauge to the object it reads, set the limits, and create all labels."""
    telemetry, settings = app_context.telemetry, app_context.settings
    _create_labels(telemetry)
    telemetry.active.set_function(lambda: app_context.streams.open)
    telemetry.admitted.set_function(lambda: len(app_context.streams))
    telemetry.admitted_limit.set(settings.max_streams or _NO_LIMIT)
    telemetry.held.set_function(lambda: app_context.budget.held_bytes)
    telemetry.held_limit.set(settings.held_bytes or _NO_LIMIT)
    if (turn_log := app_context.turn_log) is not None:
        telemetry.turn_log_turns.set_function(lambda: turn_log.turns)
        telemetry.turn_log_bytes.set_function(lambda: turn_log.held_bytes)
    if isinstance(app_context.transport, HttpTransport):
        _bind_http(telemetry, app_context.transport.stats)
    telemetry.late.set_function(lambda: app_context.admission.late_s)
    telemetry.ready.set_function(lambda: float(health.is_ready))
    telemetry.stopping.set_function(lambda: health.stopping_s)
    stopping_s = settings.lameduck_s + settings.drain_s + settings.stall_s + LAST_BYTES_S
    telemetry.stopping_limit.set(stopping_s)


def _bind_http(telemetry: Telemetry, stats: HttpStats) -> None:
    telemetry.agent_connections_kept.set_function(lambda: stats.kept)
    telemetry.agent_heads_late.bind(lambda: [stats.late_heads])
    telemetry.agent_requests.bind(lambda: [stats.on_new, stats.on_kept, stats.sent_again])


def _create_labels(telemetry: Telemetry) -> None:
    for outcome in Outcome:
        telemetry.streams.labels(outcome.value)
    for route in ROUTES:
        telemetry.requests.labels(route)
    for code in CODES:
        telemetry.refusals.labels(code)
    for reason in DialFailure:
        telemetry.dial_failures.labels(reason.value)
    for result in ACCESS_RESULTS:
        telemetry.access.labels(result)
    for result in FETCH_RESULTS:
        telemetry.key_sets.labels(result)
    telemetry.unrecognised.labels("other")


class MeasuredAccess:
    """An `Access` that asks another one, and measures how long each answer takes."""

    def __init__(self, access: Access, seconds: Histogram) -> None:
        self._access = access
        self._seconds = seconds

    async def grant(self, caller: Caller, session_id: str, request_id: str) -> Grant | None:
        """Return the answer of the other `Access`; raise its errors."""
        started_at = time.monotonic()
        try:
            grant = await self._access.grant(caller, session_id, request_id)
        except (Unauthorized, Unavailable) as exc:
            self._observe("unauthorized" if isinstance(exc, Unauthorized) else "failed", started_at)
            raise
        self._observe("denied" if grant is None else "granted", started_at)
        return grant

    def _observe(self, result: str, started_at: float) -> None:
        self._seconds.labels(result).observe(time.monotonic() - started_at)
