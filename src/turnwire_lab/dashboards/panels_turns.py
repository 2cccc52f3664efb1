"""What users get of it: how much, how it ends, how fast."""

from typing import Final

from turnwire_lab.dashboards.outcomes import BY_US, ERRORS, NO_TURN, among, not_among
from turnwire_lab.dashboards.panel import (
    Panel,
    Query,
    Row,
    of,
    quantile,
    quantiles,
    rate,
    share,
)
from turnwire_lab.dashboards.slo import FIRST_BYTE, RELAY, TURN, Level

_TURNS: Final = rate("turnwire_streams_total", not_among(NO_TURN))
_ERRORS: Final = share(rate("turnwire_streams_total", among(ERRORS)), _TURNS)
_ABORTS: Final = share(rate("turnwire_streams_total", among(BY_US)), _TURNS)
_INSTANCE: Final = "{{instance}} {{worker}}"


def _budget(level: Level) -> Panel:
    return Panel(
        f"Budget: {level.says}",
        f"Share over a short and a long window, of all instances of the job. The budget is "
        f"{1 - level.objective:.1%} in 30 days.",
        "percentunit",
        tuple(
            Query(f'{level.record(window)}{{job=~"$job"}}', f"{{{{job}}}} {window}")
            for window in ("5m", "1h", "6h", "3d")
        ),
        (f"{level.name}BudgetFast", f"{level.name}BudgetSlow"),
        limit=1 - level.objective,
    )


TRAFFIC: Final = Row(
    "Traffic",
    (
        Panel(
            "Streams open",
            "Streams open now.",
            "short",
            (Query(f"sum({of('turnwire_streams_active')})", "open"),),
            ("TurnwireAbsent", "TurnwireInstanceDown"),
            kind="stat",
            width=6,
        ),
        Panel(
            "Turns per second",
            "Turns that end, per second.",
            "reqps",
            (Query(_TURNS, "turns"),),
            kind="stat",
            width=6,
        ),
        Panel(
            "Error share",
            "Share of streams whose client got an error.",
            "percentunit",
            (Query(_ERRORS, "errors"),),
            ("TurnwireErrorRate",),
            kind="stat",
            width=6,
            limit=0.05,
        ),
        Panel(
            "First byte, p99",
            "Time to the first byte of 99 in 100 streams.",
            "s",
            (Query(quantile(0.99, "turnwire_time_to_first_byte_seconds"), "p99"),),
            ("TurnwireFirstByteSlow",),
            kind="stat",
            width=6,
            limit=0.5,
        ),
        Panel(
            "Requests, by route",
            "Requests that came in, per second.",
            "reqps",
            (Query(rate("turnwire_requests_total", by="route"), "{{route}}"),),
            stacked=True,
        ),
        Panel(
            "Streams open, by instance",
            "Streams open on each instance: an uneven share is the load balancer's doing.",
            "short",
            (Query(of("turnwire_streams_active"), _INSTANCE),),
            ("TurnwireStreamsNearLimit",),
            stacked=True,
        ),
        Panel(
            "Bytes to clients",
            "Bytes written per second. A stream is counted when it ends, so long turns come late.",
            "Bps",
            (Query(rate("turnwire_written_bytes_total"), "written"),),
        ),
    ),
)

OUTCOMES: Final = Row(
    "Outcomes",
    (
        Panel(
            "Streams ended, by outcome",
            "How streams end, per second. docs/metrics.md says what each outcome means.",
            "reqps",
            (Query(rate("turnwire_streams_total", by="outcome"), "{{outcome}}"),),
            ("TurnwireErrorRate", "TurnwireCrashed"),
            stacked=True,
        ),
        Panel(
            "Share of errors and of server aborts",
            "Errors: the client got one. Server aborts: those errors that a limit or the gateway "
            "caused, not the agent.",
            "percentunit",
            (Query(_ERRORS, "errors"), Query(_ABORTS, "server aborts")),
            ("TurnwireErrorRate", "TurnwireServerAborts"),
            limit=0.05,
        ),
        _budget(TURN),
    ),
)

LATENCY: Final = Row(
    "Latency",
    (
        Panel(
            "Time to first byte",
            "From the request to the first byte of its stream: token, access, body, dial.",
            "s",
            quantiles("turnwire_time_to_first_byte_seconds", 0.5, 0.9, 0.99),
            ("TurnwireFirstByteSlow",),
            limit=0.5,
        ),
        Panel(
            "Turn duration",
            "From the request to the end of its stream. Most of it is the agent's time.",
            "s",
            quantiles("turnwire_turn_duration_seconds", 0.5, 0.9, 0.99),
        ),
        Panel(
            "Wait for the turn",
            "From the request to the begin of its turn: the session's queue, for the most part.",
            "s",
            quantiles("turnwire_turn_wait_seconds", 0.5, 0.9, 0.99),
        ),
        Panel(
            "Added latency of a frame",
            "From a read of the agent's socket to the write to the client, of one read in 16. What "
            "waits for the event loop comes on top: see its lag.",
            "s",
            quantiles("turnwire_relay_seconds", 0.5, 0.9, 0.99),
            ("TurnwireRelayBudgetFast", "TurnwireRelayBudgetSlow"),
            limit=0.005,
        ),
        _budget(FIRST_BYTE),
        _budget(RELAY),
    ),
)
