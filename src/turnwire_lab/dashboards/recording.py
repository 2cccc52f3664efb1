"""Recording rules: what alerts and panels ask for more than once."""

from typing import Final

from turnwire_lab.dashboards.alert import Record
from turnwire_lab.dashboards.outcomes import BY_US, ERRORS, NO_TURN, among, not_among
from turnwire_lab.dashboards.slo import LEVELS, TURNS

_TURNS_5M: Final = f"sum by (job) (rate(turnwire_streams_total{{{not_among(NO_TURN)}}}[5m]))"


def _share(outcomes: str) -> str:
    return f"sum by (job) (rate(turnwire_streams_total{{{outcomes}}}[5m]))\n/\n{_TURNS_5M}"


def _p99(metric: str, by: str = "job") -> str:
    return f"histogram_quantile(0.99, sum by ({by}, le) (rate({metric}_bucket[5m])))"


ERROR_SHARE: Final = "job:turnwire_streams_errors:ratio_rate5m"
ABORT_SHARE: Final = "job:turnwire_streams_aborts:ratio_rate5m"
UNREACHABLE_SHARE: Final = "job:turnwire_streams_unreachable:ratio_rate5m"
FIRST_BYTE_P99: Final = "job:turnwire_time_to_first_byte_seconds:p99_5m"
LAG_P99: Final = "instance:turnwire_event_loop_lag_seconds:p99_5m"
UNRECOGNISED: Final = "instance:turnwire_frames_unrecognised:sum"
ATTEMPTS: Final = "job:turnwire_agent_model_attempts:increase1h"
ATTEMPTS_LOST: Final = "job:turnwire_agent_model_attempts_lost:ratio_rate5m"
COMMIT_P99: Final = "job:turnwire_agent_commit_seconds:p99_5m"

RECORDS: Final = (
    Record(
        TURNS,
        f"sum by (job) (increase(turnwire_streams_total{{{not_among(NO_TURN)}}}[1h]))",
        "Turns that ended in an hour.",
    ),
    Record(
        ERROR_SHARE,
        _share(among(ERRORS)),
        "Share of streams whose client got an error (the RFC's error rate).",
    ),
    Record(
        ABORT_SHARE,
        _share(among(BY_US)),
        "Share of streams that the gateway ended (the RFC's server aborts).",
    ),
    Record(
        UNREACHABLE_SHARE,
        _share('outcome="unreachable"'),
        "Share of streams whose agent could not be dialled.",
    ),
    Record(
        FIRST_BYTE_P99,
        _p99("turnwire_time_to_first_byte_seconds"),
        "Time in which 99 of 100 streams had their first byte.",
    ),
    Record(
        LAG_P99,
        _p99("turnwire_event_loop_lag_seconds", "job, instance"),
        "How late the timers of the event loop are: 99 of 100 are no later.",
    ),
    Record(
        UNRECOGNISED,
        "sum by (job, instance, worker) (turnwire_frames_unrecognised_total)",
        "Frames of unknown types, in one series for each process. The series of a new type would "
        "begin above 0, and its increase would lack that first count.",
    ),
    *(record for level in LEVELS for record in level.records),
    Record(
        ATTEMPTS,
        "sum by (job) (increase(turnwire_agent_model_attempts_total[1h]))",
        "Answers that the agent runtime asked models for in an hour.",
    ),
    Record(
        ATTEMPTS_LOST,
        'sum by (job) (rate(turnwire_agent_model_attempts_total{outcome!="ended"}[5m]))\n/\n'
        "sum by (job) (rate(turnwire_agent_model_attempts_total[5m]))",
        "Share of answers of models that a fault lost, at the agent runtime.",
    ),
    Record(
        COMMIT_P99,
        _p99("turnwire_agent_commit_seconds"),
        "Time in which 99 of 100 commits to the journal of the agent runtime were done.",
    ),
)
