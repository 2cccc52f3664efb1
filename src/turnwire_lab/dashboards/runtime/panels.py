"""The agent runtime: its turns, its journal, and what it asks models and tools for."""

from typing import Final

from turnwire_lab.dashboards.panel import Panel, Query, Row, of, quantiles, rate

_INSTANCE: Final = "{{instance}}"

RUNTIME: Final = Row(
    "Agent runtime",
    (
        Panel(
            "Turns of the runtime, by reason",
            "Turns per second that ended. Error: the model could not be asked, or the driver "
            "failed. Canceled: somebody stopped it.",
            "cps",
            (Query(rate("turnwire_agent_turns_total", by="reason"), "{{reason}}"),),
            stacked=True,
        ),
        Panel(
            "Turns that run",
            "A process runs `host.turns` at most; further prompts wait for it or for another one.",
            "short",
            (Query(of("turnwire_agent_turns_running"), _INSTANCE),),
        ),
        Panel(
            "Parked turns",
            "Turns per second that began to wait for a person alone. Nothing runs for them.",
            "cps",
            (Query(rate("turnwire_agent_turns_parked_total"), "parked"),),
        ),
        Panel(
            "Sessions held, and sockets",
            "Held: sessions whose lease the process has, as it works for them. Sockets: those of "
            "gateways. A process that runs and has no socket is not reached.",
            "short",
            (
                Query(of("turnwire_agent_sessions_held"), f"held {_INSTANCE}"),
                Query(of("turnwire_agent_sockets"), f"sockets {_INSTANCE}"),
            ),
            ("TurnwireRuntimeDown",),
        ),
        Panel(
            "Takeovers and lost leases",
            "Takeovers: turns per second that another process had begun, as after each restart. "
            "Lost: leases per second that a process lost before its turn was over.",
            "cps",
            (
                Query(rate("turnwire_agent_takeovers_total"), "takeovers"),
                Query(rate("turnwire_agent_leases_lost_total"), "leases lost"),
            ),
            ("TurnwireRuntimeTakeovers", "TurnwireRuntimeLeasesLost"),
        ),
        Panel(
            "Errors of the journal",
            "Writes and reads per second that the journal did not do.",
            "cps",
            (Query(rate("turnwire_agent_journal_errors_total", by="instance"), _INSTANCE),),
            ("TurnwireRuntimeJournalFailing",),
        ),
        Panel(
            "Commits to the journal",
            "From the moment a transaction is given to the journal until it is committed. Clients "
            "see nothing before.",
            "s",
            quantiles("turnwire_agent_commit_seconds", 0.5, 0.99),
            ("TurnwireRuntimeCommitsSlow",),
            limit=0.25,
        ),
        Panel(
            "Answers of models, by outcome",
            "Per second. Ended: the answer came to its end. All others are the kind of fault that "
            "lost it; most are asked for again.",
            "cps",
            (Query(rate("turnwire_agent_model_attempts_total", by="outcome"), "{{outcome}}"),),
            ("TurnwireRuntimeAttemptsFailing",),
            stacked=True,
        ),
        Panel(
            "Runs of tools, by outcome",
            "Per second. Canceled: the turn was stopped meanwhile.",
            "cps",
            (Query(rate("turnwire_agent_tool_runs_total", by="outcome"), "{{outcome}}"),),
            stacked=True,
        ),
        Panel(
            "Abandoned tools and drivers",
            "Per second. They were cancelled, and went on. Each takes memory until it ends.",
            "cps",
            (
                Query(rate("turnwire_agent_tools_abandoned_total"), "tools"),
                Query(rate("turnwire_agent_drivers_abandoned_total"), "drivers"),
            ),
            ("TurnwireRuntimeAbandoned",),
        ),
        Panel(
            "Refused prompts",
            "Per second. Queue: `host.queue` prompts of the session wait. Journal: it did not take "
            "the prompt.",
            "cps",
            (Query(rate("turnwire_agent_refused_prompts_total", by="reason"), "{{reason}}"),),
            ("TurnwireRuntimeJournalFailing",),
        ),
        Panel(
            "Runtimes, by version",
            "Processes that report metrics.",
            "short",
            (Query(f"count by (version) ({of('turnwire_agent_build_info')})", "{{version}}"),),
            ("TurnwireRuntimeDown",),
            stacked=True,
        ),
    ),
)
