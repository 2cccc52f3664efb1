"""The alerts of the agent runtime, `turnwire-agent`."""

from typing import Final

from turnwire_lab.dashboards.alert import Alert, Condition, Severity
from turnwire_lab.dashboards.conditions import all_of, over, rises
from turnwire_lab.dashboards.recording import ATTEMPTS, ATTEMPTS_LOST, COMMIT_P99

_BUILD: Final = "turnwire_agent_build_info"
_TAKEOVERS: Final = "turnwire_agent_takeovers_total"

RUNTIME: Final = (
    Alert(
        "TurnwireRuntimeDown",
        Severity.WARNING,
        all_of(Condition(f"up and on (job, instance) max_over_time({_BUILD}[1h])", "<", 1)),
        "2m",
        "The agent runtime at {{ $labels.instance }} does not report metrics",
        "It did within the last hour, and is still in the list of targets.",
        on="job, instance",
    ),
    Alert(
        "TurnwireRuntimeJournalFailing",
        Severity.CRITICAL,
        over(rises("turnwire_agent_journal_errors_total", "2m"), 0),
        "3m",
        "The journal of the agent runtime does not answer",
        "Writes and reads that failed within two minutes: no turn begins or goes on meanwhile.",
        show="humanize",
    ),
    Alert(
        "TurnwireRuntimeLeasesLost",
        Severity.WARNING,
        over(rises("turnwire_agent_leases_lost_total", "10m"), 3),
        "0s",
        "The agent runtime loses leases of sessions",
        "Leases that ended before their turn, within ten minutes.",
        show="humanize",
    ),
    Alert(
        "TurnwireRuntimeTakeovers",
        Severity.WARNING,
        # A restart makes many at once, and then none.
        all_of(
            Condition(rises(_TAKEOVERS, "30m"), ">", 10),
            Condition(rises(_TAKEOVERS, "5m"), ">", 0),
        ),
        "10m",
        "Turns of the agent runtime are taken over again and again",
        "Turns within half an hour that another process had begun.",
        show="humanize",
    ),
    Alert(
        "TurnwireRuntimeCommitsSlow",
        Severity.WARNING,
        over(COMMIT_P99, 0.25),
        "10m",
        "One commit in a hundred to the journal takes more than 250 ms",
        "Time of 99 in 100 commits over five minutes: what a model says reaches clients so late.",
        show="humanizeDuration",
    ),
    Alert(
        "TurnwireRuntimeAttemptsFailing",
        Severity.WARNING,
        all_of(Condition(ATTEMPTS_LOST, ">", 0.1), Condition(ATTEMPTS, ">", 10)),
        "5m",
        "More than 10 % of the answers of models are lost",
        "Share of answers of models that a fault ended, over five minutes.",
        show="humanizePercentage",
    ),
    Alert(
        "TurnwireRuntimeAbandoned",
        Severity.WARNING,
        over(
            rises("turnwire_agent_tools_abandoned_total", "30m")
            + " + "
            + rises("turnwire_agent_drivers_abandoned_total", "30m"),
            3,
        ),
        "0s",
        "Tools or drivers of the agent runtime do not end when they are stopped",
        "Those within half an hour that still ran when nobody waited for them any more.",
        show="humanize",
    ),
)
