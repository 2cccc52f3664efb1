"""What an operator can measure of a host: counters, gauges and times, for Prometheus.

Labels have fixed words alone, so that their number has a bound, and each word has its series from
the start, at 0: the first time that something happens is a rise, too. No metric has a session, a
user, a prompt or a tool's name in it.
"""

from collections.abc import Sequence
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

TURN_REASONS: Final = ("end_turn", "error", "canceled")
REFUSED_REASONS: Final = ("queue", "journal", "unreadable")
TOOL_OUTCOMES: Final = ("done", "failed", "canceled", "timeout")
ATTEMPT_OUTCOMES: Final = (
    "ended",
    "bad-request",
    "unauthorized",
    "forbidden",
    "not-found",
    "too-large",
    "context-overflow",
    "rate-limited",
    "quota",
    "overloaded",
    "server",
    "connection",
    "timeout",
    "truncated",
    "malformed",
    "refused",
    "too-long",
)
"""`ended`, the kinds of faults of a model, and that an answer is longer than it may be."""


def _counter(name: str, text: str, label: str, words: Sequence[str]) -> Counter:
    """A counter that has a series for each word."""
    counter = Counter(name, text, [label])
    for word in words:
        counter.labels(word)
    return counter


TURNS_RUNNING: Final = Gauge("turnwire_agent_turns_running", "Turns that run in this process now.")
SESSIONS_HELD: Final = Gauge(
    "turnwire_agent_sessions_held", "Sessions whose lease this process has now."
)
SOCKETS: Final = Gauge("turnwire_agent_sockets", "Open sockets of gateways.")
TURNS: Final = _counter(
    "turnwire_agent_turns_total", "Turns that ended, by reason.", "reason", TURN_REASONS
)
TURNS_PARKED: Final = Counter(
    "turnwire_agent_turns_parked_total", "Times that a turn began to wait for a person alone."
)
TAKEOVERS: Final = Counter(
    "turnwire_agent_takeovers_total", "Turns that this process went on with after another one."
)
LEASES_LOST: Final = Counter(
    "turnwire_agent_leases_lost_total",
    "Leases that ended before their turn, as the journal or another process took them away.",
)
JOURNAL_ERRORS: Final = Counter(
    "turnwire_agent_journal_errors_total", "Writes and reads that the journal did not do."
)
COMMIT_SECONDS: Final = Histogram(
    "turnwire_agent_commit_seconds",
    "From the moment a transaction is given to the journal until it is committed.",
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5),
)
REFUSED_PROMPTS: Final = _counter(
    "turnwire_agent_refused_prompts_total",
    "Prompts that were not accepted: too many of the session wait, the journal did not take it, or"
    " it cannot be read.",
    "reason",
    REFUSED_REASONS,
)
MODEL_ATTEMPTS: Final = _counter(
    "turnwire_agent_model_attempts_total",
    "Answers of models: `ended`, or the kind of fault that lost them.",
    "outcome",
    ATTEMPT_OUTCOMES,
)
TOOL_RUNS: Final = _counter(
    "turnwire_agent_tool_runs_total", "Runs of tools, by outcome.", "outcome", TOOL_OUTCOMES
)
TOOLS_ABANDONED: Final = Counter(
    "turnwire_agent_tools_abandoned_total",
    "Async tools that were cancelled, and still ran a second later.",
)
DRIVERS_ABANDONED: Final = Counter(
    "turnwire_agent_drivers_abandoned_total",
    "Drivers that were cancelled, and still ran after `host.stop_s`.",
)
BUILD_INFO: Final = Gauge("turnwire_agent_build_info", "The running version.", ["version"])
