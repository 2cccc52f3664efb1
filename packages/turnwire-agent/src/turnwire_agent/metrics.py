"""What an operator can measure of a host: counters, gauges and times, for Prometheus.

Labels have fixed words alone, so that their number has a bound. No metric has a session, a user, a
prompt or a tool's name in it.
"""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

TURNS_RUNNING: Final = Gauge("turnwire_agent_turns_running", "Turns that run in this process now.")
SESSIONS_HELD: Final = Gauge(
    "turnwire_agent_sessions_held", "Sessions whose lease this process has now."
)
SOCKETS: Final = Gauge("turnwire_agent_sockets", "Open sockets of gateways.")
TURNS: Final = Counter("turnwire_agent_turns_total", "Turns that ended.", ["reason"])
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
REFUSED_PROMPTS: Final = Counter(
    "turnwire_agent_refused_prompts_total", "Prompts that were not accepted.", ["why"]
)
MODEL_ATTEMPTS: Final = Counter(
    "turnwire_agent_model_attempts_total",
    "Answers of models: `ended`, or the kind of fault that lost them.",
    ["outcome"],
)
TOOL_RUNS: Final = Counter("turnwire_agent_tool_runs_total", "Runs of tools.", ["outcome"])
TOOLS_ABANDONED: Final = Counter(
    "turnwire_agent_tools_abandoned_total",
    "Tools that were cancelled, and still ran a second later.",
)
DRIVERS_ABANDONED: Final = Counter(
    "turnwire_agent_drivers_abandoned_total",
    "Drivers that were cancelled, and still ran a second later.",
)
