"""Agents over HTTP, and the turn log that keeps their turns."""

from typing import Final

from turnwire_lab.dashboards.panel import Panel, Query, Row, of, rate

_INSTANCE: Final = "{{instance}} {{worker}}"

HTTP: Final = Row(
    "Agents over HTTP, and the turn log",
    (
        Panel(
            "Requests to agents, by connection",
            "Per second. New: a connection was opened. Kept: one of an earlier request was used. "
            "Again: the kept one was dead, and the request was sent once more on a new one.",
            "reqps",
            (Query(rate("turnwire_agent_requests_total", by="connection"), "{{connection}}"),),
            ("TurnwireFirstByteSlow",),
            stacked=True,
        ),
        Panel(
            "Kept connections",
            "Connections that wait for their next request; they are closed after four seconds.",
            "short",
            (Query(of("turnwire_agent_connections_kept"), _INSTANCE),),
        ),
        Panel(
            "Late heads",
            "Requests per second that had no head of a response within TURNWIRE_DIAL_S. Their "
            "clients get keepalives meanwhile.",
            "cps",
            (Query(rate("turnwire_agent_heads_late_total"), "late"),),
        ),
        Panel(
            "Left out of conversations",
            "Parts per second that clients sent of earlier turns, and that the agent's wire has no "
            "words for. The log has their kinds.",
            "cps",
            (Query(rate("turnwire_history_left_out_total"), "left out"),),
        ),
        Panel(
            "Turns in the turn log",
            "Running, waiting for an approval, or over for less than TURNWIRE_TURN_LOG_KEEP_S.",
            "short",
            (Query(of("turnwire_turn_log_turns"), _INSTANCE),),
        ),
        Panel(
            "Bytes of the turn log",
            "What the processes hold. Over TURNWIRE_TURN_LOG_TOTAL_BYTES, turns that are over go "
            "first.",
            "bytes",
            (Query(of("turnwire_turn_log_bytes"), _INSTANCE),),
            ("TurnwireTurnsTooLong",),
        ),
        Panel(
            "Turns that are not kept",
            "Too long: turns per second that outgrew their room in the log. Failed: times that the "
            "Redis of the turn log did not answer. Such turns go on, and cannot be resumed.",
            "cps",
            (
                Query(rate("turnwire_turn_log_too_long_total"), "too long"),
                Query(rate("turnwire_turn_log_failures_total"), "failed"),
            ),
            ("TurnwireTurnsTooLong", "TurnwireTurnLogFailing"),
        ),
    ),
)
