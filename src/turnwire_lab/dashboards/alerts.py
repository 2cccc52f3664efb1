"""Every alert. `docs/runbook.md` has a section for each."""

from typing import Final

from turnwire_lab.dashboards.alert import Alert, Condition, Severity
from turnwire_lab.dashboards.conditions import all_of, over, rises
from turnwire_lab.dashboards.recording import (
    ABORT_SHARE,
    ERROR_SHARE,
    FIRST_BYTE_P99,
    LAG_P99,
    UNREACHABLE_SHARE,
    UNRECOGNISED,
)
from turnwire_lab.dashboards.runtime.alerts import RUNTIME
from turnwire_lab.dashboards.slo import LEVELS, TURNS, TURNS_LEAST

_INSTANCE: Final = "job, instance"
_OURS: Final = "and on (job, instance) turnwire_build_info"
_ENOUGH: Final = Condition(TURNS, ">", TURNS_LEAST)


def _share_of_requests(code: str) -> str:
    refused = f'sum by (job) (rate(turnwire_refusals_total{{code=~"{code}"}}[10m]))'
    return f"{refused} / sum by (job) (rate(turnwire_requests_total[10m]))"


_UP: Final = (
    Alert(
        "TurnwireAbsent",
        Severity.CRITICAL,
        all_of(Condition("sum(turnwire_build_info) or vector(0)", "<", 1)),
        "5m",
        "No turnwire reports metrics",
        "Nothing is known of any gateway: none runs, or none is scraped.",
        on="",
    ),
    Alert(
        "TurnwireInstanceDown",
        Severity.WARNING,
        all_of(
            Condition("up and on (job, instance) max_over_time(turnwire_build_info[1h])", "<", 1)
        ),
        "2m",
        "{{ $labels.instance }} does not report metrics",
        "It did within the last hour, and is still in the list of targets.",
        on=_INSTANCE,
    ),
    Alert(
        "TurnwireDrainStuck",
        Severity.CRITICAL,
        over("turnwire_stopping_seconds / turnwire_stopping_limit_seconds", 1),
        "0s",
        "{{ $labels.instance }} does not stop",
        "It has been stopping for longer than its settings allow (the value is the share used).",
        on=_INSTANCE,
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireCrashed",
        Severity.WARNING,
        over(
            rises('turnwire_refusals_total{code="internal"}', "10m")
            + " + "
            + rises('turnwire_streams_total{outcome="crashed"}', "10m"),
            0,
        ),
        "0s",
        "A request hit a bug",
        "Requests answered 500 and streams that broke off within ten minutes.",
        show="humanize",
    ),
    Alert(
        "TurnwireWorkersDying",
        Severity.WARNING,
        over("increase(turnwire_worker_restarts_total[10m])", 3),
        "0s",
        "Workers of {{ $labels.instance }} die again and again",
        "Workers that died and were replaced within ten minutes.",
        on=_INSTANCE,
        show="humanize",
    ),
)

_TURNS: Final = (
    Alert(
        "TurnwireErrorRate",
        Severity.WARNING,
        all_of(Condition(ERROR_SHARE, ">", 0.05), _ENOUGH),
        "5m",
        "More than 5 % of streams end in an error",
        "Share of streams whose client got an error, over five minutes.",
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireServerAborts",
        Severity.WARNING,
        all_of(Condition(ABORT_SHARE, ">", 0.01), _ENOUGH),
        "15m",
        "More than 1 % of streams are ended by the gateway",
        "Share of streams that an error of the line or a limit ended, over five minutes.",
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireFirstByteSlow",
        Severity.WARNING,
        all_of(Condition(FIRST_BYTE_P99, ">", 0.5), _ENOUGH),
        "10m",
        "One stream in a hundred waits for more than 500 ms for its first byte",
        "Time to the first byte of 99 in 100 streams, over five minutes.",
        show="humanizeDuration",
    ),
    *(alert for level in LEVELS for alert in level.alerts),
)

_AGENT: Final = (
    Alert(
        "TurnwireDialFailures",
        Severity.INFO,
        over(rises('turnwire_dial_failures_total{reason!="status"}', "5m", "job, reason"), 0),
        "0s",
        "Connections to the agent failed to open ({{ $labels.reason }})",
        "Within five minutes, answers with an HTTP status not counted.",
        on="job, reason",
        show="humanize",
    ),
    Alert(
        "TurnwireAgentUnreachable",
        Severity.CRITICAL,
        over(UNREACHABLE_SHARE, 0.5),
        "2m",
        "The agent cannot be reached",
        "Share of streams whose agent could not be dialled, over five minutes.",
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireUnknownFrames",
        Severity.WARNING,
        over(f"increase({UNRECOGNISED}[15m])", 0),
        "0s",
        "The agent sends frames of unknown types",
        "Within 15 minutes; they are dropped. The agent's wire has drifted.",
        on=_INSTANCE,
        show="humanize",
    ),
    Alert(
        "TurnwireMalformedFrames",
        Severity.WARNING,
        over(rises("turnwire_frames_malformed_total", "15m"), 0),
        "0s",
        "The agent sends frames that make no sense",
        "Frames that are not JSON, or of a known type with wrong fields, within 15 minutes.",
        show="humanize",
    ),
    Alert(
        "TurnwireTurnsTooLong",
        Severity.INFO,
        over(rises("turnwire_turn_log_too_long_total", "15m"), 0),
        "0s",
        "Turns are too long for the turn log",
        "Turns within 15 minutes that outgrew their room in the log, and cannot be resumed.",
        show="humanize",
    ),
    Alert(
        "TurnwireTurnLogFailing",
        Severity.WARNING,
        over(rises("turnwire_turn_log_failures_total", "10m"), 0),
        "5m",
        "The Redis of the turn log does not answer",
        "Failures within ten minutes; turns go on meanwhile, and cannot be resumed.",
        show="humanize",
    ),
)

_SATURATION: Final = (
    Alert(
        "TurnwireStreamsNearLimit",
        Severity.WARNING,
        over("turnwire_streams_admitted / turnwire_streams_limit", 0.8),
        "5m",
        "{{ $labels.instance }} has nearly as many streams as it may have",
        "Share of TURNWIRE_MAX_STREAMS; at 100 % new ones are answered 503.",
        on=_INSTANCE,
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireHeldBytesNearLimit",
        Severity.WARNING,
        over("turnwire_held_bytes / turnwire_held_bytes_limit", 0.8),
        "1m",
        "{{ $labels.instance }} holds nearly as many bytes as it may hold",
        "Share of TURNWIRE_HELD_BYTES; at 100 % streams that would hold more are ended.",
        on=_INSTANCE,
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireDescriptorsNearLimit",
        Severity.WARNING,
        over(f"process_open_fds / process_max_fds {_OURS}", 0.8),
        "5m",
        "{{ $labels.instance }} has nearly as many descriptors open as it may have",
        "Share of the limit (`nofile`); a stream needs two.",
        on=_INSTANCE,
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireLoopLags",
        Severity.WARNING,
        over(LAG_P99, 0.1),
        "5m",
        "The event loop of {{ $labels.instance }} lags",
        "How late one in a hundred of its timers comes; every stream waits as long.",
        on=_INSTANCE,
        show="humanizeDuration",
    ),
    Alert(
        "TurnwireLoopHangs",
        Severity.CRITICAL,
        over("turnwire_event_loop_late_seconds", 5),
        "30s",
        "The event loop of {{ $labels.instance }} stands still",
        "No stream of this process gets a byte, and /healthz does not answer.",
        on=_INSTANCE,
        show="humanizeDuration",
    ),
    Alert(
        "TurnwireCpuBusy",
        Severity.WARNING,
        over(f"rate(process_cpu_seconds_total[5m]) {_OURS}", 0.85),
        "10m",
        "{{ $labels.instance }} uses nearly all of its processor",
        "Share of one core, which is all that a process can use.",
        on=_INSTANCE,
        show="humanizePercentage",
    ),
)

_DOOR: Final = (
    Alert(
        "TurnwireUsersLimited",
        Severity.INFO,
        over(_share_of_requests("too_many_streams|too_many_turns"), 0.05),
        "10m",
        "More than 5 % of requests are answered 429",
        "Share of requests over the limits of their user.",
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireUnauthorized",
        Severity.WARNING,
        over(_share_of_requests("unauthorized"), 0.25),
        "10m",
        "More than a quarter of requests are answered 401",
        "Share of requests whose token is not taken.",
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireJwksFailing",
        Severity.WARNING,
        over(rises('turnwire_jwks_fetches_total{result="failed"}', "10m"), 0),
        "5m",
        "The key set cannot be fetched",
        "Fetches that failed within ten minutes; the last set stays in use.",
        show="humanize",
    ),
    Alert(
        "TurnwireJwksStale",
        Severity.CRITICAL,
        all_of(
            Condition("turnwire_jwks_age_seconds", ">", 3600),
            Condition(
                rises('turnwire_jwks_fetches_total{result="failed"}', "10m", _INSTANCE), ">", 0
            ),
        ),
        "5m",
        "The key set of {{ $labels.instance }} is an hour old",
        "Requests wait for each try to fetch it; tokens signed with newer keys are refused.",
        on=_INSTANCE,
        show="humanizeDuration",
    ),
    Alert(
        "TurnwireAccessFailing",
        Severity.CRITICAL,
        over(
            'sum by (job) (rate(turnwire_access_check_seconds_count{result="failed"}[5m]))'
            " / sum by (job) (rate(turnwire_access_check_seconds_count[5m]))",
            0.05,
        ),
        "2m",
        "The control plane does not answer",
        "Share of questions about access that failed; their requests are answered 503.",
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireRateStoreFailing",
        Severity.WARNING,
        over(rises("turnwire_rate_store_failures_total", "10m"), 0),
        "5m",
        "The Redis of the turn rates cannot be asked",
        "Failed requests within ten minutes; no rate is counted meanwhile.",
        show="humanize",
    ),
)

ALERTS: Final = (*_UP, *_TURNS, *_AGENT, *_SATURATION, *_DOOR, *RUNTIME)
