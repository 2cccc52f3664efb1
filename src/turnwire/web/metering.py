"""Where the metrics that nobody counts come from, and what else is measured from outside.

Labels of closed sets are there from the start, at 0: of a counter that is born with its
first count, Prometheus cannot tell that it rose.
"""

import time
from typing import Final

from prometheus_client import Histogram

from turnwire import errors
from turnwire.core.outcome import Outcome
from turnwire.errors import Refused, Unauthorized, Unavailable
from turnwire.relay.leaving import DialFailure
from turnwire.telemetry import Telemetry
from turnwire.web.access import Access, Grant
from turnwire.web.gateway import Gateway
from turnwire.web.health import Health
from turnwire.web.identity import Caller
from turnwire.web.jwks import FETCHED
from turnwire.web.server import FAREWELL_S

ROUTES: Final = ("chat", "resume", "stop", "answer", "messages")

INTERNAL: Final = "internal"
"""The code of a bug, which no class of `errors` is for."""

CODES: Final = (
    *sorted(
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, Refused) and kind is not Refused
    ),
    INTERNAL,
)

ACCESS_RESULTS: Final = ("granted", "denied", "unauthorized", "failed")

_NO_LIMIT: Final = float("inf")


def meter(gateway: Gateway, health: Health) -> None:
    """Have the gauges read what they tell about, and all labels known."""
    telemetry, settings = gateway.telemetry, gateway.settings
    _begin_at_zero(telemetry)
    telemetry.active.set_function(lambda: gateway.streams.open)
    telemetry.admitted.set_function(lambda: len(gateway.streams))
    telemetry.admitted_limit.set(settings.max_streams or _NO_LIMIT)
    telemetry.held.set_function(lambda: gateway.budget.held_bytes)
    telemetry.held_limit.set(settings.held_bytes or _NO_LIMIT)
    telemetry.late.set_function(lambda: gateway.admission.late_s)
    telemetry.ready.set_function(lambda: float(health.is_ready))
    telemetry.stopping.set_function(lambda: health.stopping_s)
    stopping_s = settings.lameduck_s + settings.drain_s + settings.stall_s + FAREWELL_S
    telemetry.stopping_limit.set(stopping_s)


def _begin_at_zero(telemetry: Telemetry) -> None:
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
    for result in FETCHED:
        telemetry.key_sets.labels(result)
    telemetry.unrecognised.labels("other")


class MeasuredAccess:
    """Another `Access`, and how long it took."""

    def __init__(self, access: Access, seconds: Histogram) -> None:
        self._access = access
        self._seconds = seconds

    async def grant(self, caller: Caller, session_id: str, request_id: str) -> Grant | None:
        """As the other says; raises as it does."""
        began = time.monotonic()
        try:
            grant = await self._access.grant(caller, session_id, request_id)
        except (Unauthorized, Unavailable) as exc:
            self._observe("unauthorized" if isinstance(exc, Unauthorized) else "failed", began)
            raise
        self._observe("denied" if grant is None else "granted", began)
        return grant

    def _observe(self, result: str, began: float) -> None:
        self._seconds.labels(result).observe(time.monotonic() - began)
