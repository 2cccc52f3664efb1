"""For each alert what makes it fire, and what is like that and does not.

Series begin as `HEALTHY`, a sample a minute for two hours, and a case says what is different.
Values are in promtool's notation; None: there is no such series.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

Series = Mapping[str, str | None]

MINUTES: Final = 120


OTHER: Final = "other "
"""Before a series of another program, in a job of its own."""


def series(told: Series, job: str) -> dict[str, str | None]:
    """The series of a case, in a job that is its own."""
    return {_named(name, job): values for name, values in {**HEALTHY, **told}.items()}


def _named(name: str, job: str) -> str:
    if name.startswith(OTHER):
        job = f"{job} other"
    own = f'job="{job}",instance="a:9787"'
    metric, _, labels = name.removeprefix(OTHER).rstrip("}").partition("{")
    return f"{metric}{{{', '.join(filter(None, (own, labels)))}}}"


def each(step: float, start: float = 0) -> str:
    """It rises by so much in a minute."""
    return f"{start:g}+{step:g}x{MINUTES}"


def always(value: float) -> str:
    return each(0, value)


HEALTHY: Final = {
    "up": always(1),
    'turnwire_build_info{version="1"}': always(1),
    'turnwire_streams_total{outcome="completed"}': each(60),
    'turnwire_streams_total{outcome="failed"}': always(0),
    'turnwire_streams_total{outcome="silent"}': always(0),
    'turnwire_streams_total{outcome="unreachable"}': always(0),
    'turnwire_streams_total{outcome="crashed"}': always(0),
    'turnwire_requests_total{route="chat"}': each(60),
    'turnwire_refusals_total{code="unavailable"}': always(0),
    'turnwire_refusals_total{code="internal"}': always(0),
    'turnwire_refusals_total{code="unauthorized"}': always(0),
    'turnwire_refusals_total{code="too_many_streams"}': always(0),
    'turnwire_time_to_first_byte_seconds_bucket{le="0.5"}': each(60),
    'turnwire_time_to_first_byte_seconds_bucket{le="1"}': each(60),
    'turnwire_time_to_first_byte_seconds_bucket{le="+Inf"}': each(60),
    "turnwire_time_to_first_byte_seconds_count": each(60),
    'turnwire_relay_seconds_bucket{le="0.005"}': each(600),
    'turnwire_relay_seconds_bucket{le="+Inf"}': each(600),
    "turnwire_relay_seconds_count": each(600),
    'turnwire_event_loop_lag_seconds_bucket{le="0.1"}': each(600),
    'turnwire_event_loop_lag_seconds_bucket{le="0.25"}': each(600),
    'turnwire_event_loop_lag_seconds_bucket{le="+Inf"}': each(600),
    "turnwire_event_loop_late_seconds": always(0.01),
    "turnwire_streams_admitted": always(10),
    "turnwire_streams_limit": always(8000),
    "turnwire_held_bytes": always(0),
    "turnwire_held_bytes_limit": always(268435456),
    "process_open_fds": always(50),
    "process_max_fds": always(1024),
    "process_cpu_seconds_total": each(6),
    'turnwire_frames_unrecognised_total{type="other"}': always(0),
    "turnwire_frames_malformed_total": always(0),
    'turnwire_dial_failures_total{reason="connect"}': always(0),
    'turnwire_dial_failures_total{reason="status"}': always(0),
    "turnwire_jwks_age_seconds": always(100),
    'turnwire_jwks_fetches_total{result="ok"}': each(0.1),
    'turnwire_jwks_fetches_total{result="failed"}': always(0),
    'turnwire_access_check_seconds_count{result="granted"}': each(60),
    'turnwire_access_check_seconds_count{result="failed"}': always(0),
    "turnwire_rate_store_failures_total": always(0),
    "turnwire_turn_log_too_long_total": always(0),
    "turnwire_turn_log_failures_total": always(0),
    "turnwire_stopping_seconds": always(0),
    "turnwire_stopping_limit_seconds": always(55),
    "turnwire_worker_restarts_total": always(0),
    'turnwire_agent_build_info{version="1"}': always(1),
    "turnwire_agent_journal_errors_total": always(0),
    "turnwire_agent_leases_lost_total": always(0),
    "turnwire_agent_takeovers_total": always(0),
    'turnwire_agent_commit_seconds_bucket{le="0.25"}': each(600),
    'turnwire_agent_commit_seconds_bucket{le="1"}': each(600),
    'turnwire_agent_commit_seconds_bucket{le="+Inf"}': each(600),
    'turnwire_agent_model_attempts_total{outcome="ended"}': each(60),
    'turnwire_agent_model_attempts_total{outcome="overloaded"}': always(0),
    "turnwire_agent_tools_abandoned_total": always(0),
    "turnwire_agent_drivers_abandoned_total": always(0),
}


class Case(Struct, frozen=True):
    alert: str
    fires: Series
    quiet: Series


_FIRST_BYTE: Final = 'turnwire_time_to_first_byte_seconds_bucket{le="0.5"}'
_RELAY: Final = 'turnwire_relay_seconds_bucket{le="0.005"}'
_COMPLETED: Final = 'turnwire_streams_total{outcome="completed"}'
_FAILED: Final = 'turnwire_streams_total{outcome="failed"}'
_SILENT: Final = 'turnwire_streams_total{outcome="silent"}'
_UNREACHABLE: Final = 'turnwire_streams_total{outcome="unreachable"}'
_INTERNAL: Final = 'turnwire_refusals_total{code="internal"}'
_BUILD: Final = 'turnwire_build_info{version="1"}'
_RUNTIME: Final = 'turnwire_agent_build_info{version="1"}'
_COMMITS: Final = 'turnwire_agent_commit_seconds_bucket{le="0.25"}'
_OVERLOADED: Final = 'turnwire_agent_model_attempts_total{outcome="overloaded"}'
_NOT_FETCHED: Final = 'turnwire_jwks_fetches_total{result="failed"}'
_LAG: Final = 'turnwire_event_loop_lag_seconds_bucket{le="0.1"}'

ABSENT: Final = Case(
    "TurnwireAbsent",
    fires={_BUILD: "1x100 stale"},
    quiet={_BUILD: "1x117 stale"},  # not long enough
)
"""About all jobs at once."""

CASES: Final = (
    Case(
        "TurnwireInstanceDown",
        fires={"up": "1x100 0x20", _BUILD: "1x100 stale"},
        quiet={f"{OTHER}up": always(0)},
    ),
    Case(
        "TurnwireDrainStuck",
        fires={"turnwire_stopping_seconds": "0x110 0+60x10"},
        quiet={"turnwire_stopping_seconds": "0x118 20 50"},
    ),
    Case("TurnwireCrashed", fires={_INTERNAL: "0x110 1x10"}, quiet={_INTERNAL: always(3)}),
    Case(
        "TurnwireWorkersDying",
        fires={"turnwire_worker_restarts_total": "0x115 0+1x5"},
        quiet={"turnwire_worker_restarts_total": "0x110 2x10"},  # two at once, and no more
    ),
    Case("TurnwireErrorRate", fires={_FAILED: each(6)}, quiet={_FAILED: each(2)}),
    Case(
        "TurnwireServerAborts",
        fires={_SILENT: each(2)},
        quiet={_FAILED: each(6)},  # the agent's verdict
    ),
    Case(
        "TurnwireFirstByteSlow",
        fires={_FIRST_BYTE: each(50)},
        quiet={_FIRST_BYTE: each(50), _COMPLETED: each(0.1)},  # a handful in an hour
    ),
    Case(
        "TurnwireTurnBudgetFast",
        fires={_FAILED: each(15)},
        quiet={_FAILED: "0+15x60 900x60"},  # over for an hour
    ),
    Case("TurnwireTurnBudgetSlow", fires={_FAILED: each(2)}, quiet={_FAILED: each(0.3)}),
    Case(
        "TurnwireFirstByteBudgetFast", fires={_FIRST_BYTE: each(48)}, quiet={_FIRST_BYTE: each(57)}
    ),
    Case(
        "TurnwireFirstByteBudgetSlow",
        fires={_FIRST_BYTE: each(57)},
        quiet={_FIRST_BYTE: each(59.7)},
    ),
    Case("TurnwireRelayBudgetFast", fires={_RELAY: each(580)}, quiet={_RELAY: each(597)}),
    Case("TurnwireRelayBudgetSlow", fires={_RELAY: each(597)}, quiet={_RELAY: each(599.7)}),
    Case(
        "TurnwireDialFailures",
        fires={'turnwire_dial_failures_total{reason="connect"}': "0x118 1 1"},
        quiet={'turnwire_dial_failures_total{reason="status"}': each(10)},
    ),
    Case(
        "TurnwireAgentUnreachable",
        fires={_COMPLETED: each(20), _UNREACHABLE: each(40)},
        quiet={_UNREACHABLE: each(20)},
    ),
    Case(
        "TurnwireUnknownFrames",
        fires={'turnwire_frames_unrecognised_total{type="agentPlan"}': "_x115 3x5"},  # a new one
        quiet={'turnwire_frames_unrecognised_total{type="agentPlan"}': always(3)},
    ),
    Case(
        "TurnwireMalformedFrames",
        fires={"turnwire_frames_malformed_total": "0x115 2x5"},
        quiet={"turnwire_frames_malformed_total": always(2)},
    ),
    Case(
        "TurnwireTurnsTooLong",
        fires={"turnwire_turn_log_too_long_total": "0x115 1x5"},
        quiet={"turnwire_turn_log_too_long_total": always(1)},
    ),
    Case(
        "TurnwireTurnLogFailing",
        fires={"turnwire_turn_log_failures_total": each(1)},
        quiet={"turnwire_turn_log_failures_total": "0x118 9 9"},  # it answers again
    ),
    Case(
        "TurnwireStreamsNearLimit",
        fires={"turnwire_streams_admitted": always(7000)},
        quiet={
            "turnwire_streams_admitted": always(7000),
            "turnwire_streams_limit": " ".join(["Inf"] * MINUTES),  # there is none
        },
    ),
    Case(
        "TurnwireHeldBytesNearLimit",
        fires={"turnwire_held_bytes": always(250e6)},
        quiet={"turnwire_held_bytes": always(100e6)},
    ),
    Case(
        "TurnwireDescriptorsNearLimit",
        fires={"process_open_fds": always(900)},
        quiet={
            f"{OTHER}process_open_fds": always(1000),
            f"{OTHER}process_max_fds": always(1024),
        },
    ),
    Case("TurnwireLoopLags", fires={_LAG: each(500)}, quiet={_LAG: each(599)}),
    Case(
        "TurnwireLoopHangs",
        fires={"turnwire_event_loop_late_seconds": "0.01x110 0+60x10"},
        quiet={"turnwire_event_loop_late_seconds": "0.01x119 6"},
    ),
    Case(
        "TurnwireCpuBusy",
        fires={"process_cpu_seconds_total": each(57)},
        quiet={
            "process_cpu_seconds_total": each(30),
            f"{OTHER}process_cpu_seconds_total": each(60),
        },
    ),
    Case(
        "TurnwireUsersLimited",
        fires={'turnwire_refusals_total{code="too_many_streams"}': each(6)},
        quiet={'turnwire_refusals_total{code="too_many_streams"}': each(1)},
    ),
    Case(
        "TurnwireUnauthorized",
        fires={'turnwire_refusals_total{code="unauthorized"}': each(30)},
        quiet={'turnwire_refusals_total{code="unauthorized"}': each(6)},
    ),
    Case("TurnwireJwksFailing", fires={_NOT_FETCHED: each(1)}, quiet={_NOT_FETCHED: always(5)}),
    Case(
        "TurnwireJwksStale",
        fires={"turnwire_jwks_age_seconds": always(4000), _NOT_FETCHED: each(1)},
        quiet={"turnwire_jwks_age_seconds": always(40000)},  # a night without a request
    ),
    Case(
        "TurnwireAccessFailing",
        fires={'turnwire_access_check_seconds_count{result="failed"}': each(6)},
        quiet={'turnwire_access_check_seconds_count{result="failed"}': each(1)},
    ),
    Case(
        "TurnwireRateStoreFailing",
        fires={"turnwire_rate_store_failures_total": each(1)},
        quiet={"turnwire_rate_store_failures_total": always(4)},
    ),
    Case(
        "TurnwireRuntimeDown",
        fires={"up": "1x100 0x20", _BUILD: "1x100 stale", _RUNTIME: "1x100 stale"},
        quiet={f"{OTHER}up": always(0)},
    ),
    Case(
        "TurnwireRuntimeJournalFailing",
        fires={"turnwire_agent_journal_errors_total": each(20)},
        quiet={"turnwire_agent_journal_errors_total": "0x118 9 9"},  # it answers again
    ),
    Case(
        "TurnwireRuntimeLeasesLost",
        fires={"turnwire_agent_leases_lost_total": "0x115 0+2x5"},
        quiet={"turnwire_agent_leases_lost_total": "0x115 2x5"},  # a process that hung once
    ),
    Case(
        "TurnwireRuntimeTakeovers",
        fires={"turnwire_agent_takeovers_total": each(1)},
        quiet={"turnwire_agent_takeovers_total": "0x108 400x12"},  # a restart
    ),
    Case(
        "TurnwireRuntimeCommitsSlow",
        fires={_COMMITS: each(590)},
        quiet={_COMMITS: each(599)},
    ),
    Case(
        "TurnwireRuntimeAttemptsFailing",
        fires={_OVERLOADED: each(12)},
        quiet={_OVERLOADED: each(4)},
    ),
    Case(
        "TurnwireRuntimeAbandoned",
        fires={
            "turnwire_agent_tools_abandoned_total": "0x110 3x10",
            "turnwire_agent_drivers_abandoned_total": "0x110 2x10",
        },
        quiet={"turnwire_agent_tools_abandoned_total": "0x110 2x10"},
    ),
)
