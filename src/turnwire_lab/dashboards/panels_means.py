"""What the gateway needs: its agent, room, the answers of others, a process."""

from typing import Final

from turnwire_lab.dashboards.panel import Panel, Query, Row, of, quantiles, rate, share

_INSTANCE: Final = "{{instance}} {{worker}}"

AGENT: Final = Row(
    "Agent",
    (
        Panel(
            "Failed dials, by reason",
            "Connections to the agent that did not open, per second. `status`: the handshake was "
            "answered with one, which may be about the user's own token.",
            "cps",
            (Query(rate("turnwire_dial_failures_total", by="reason"), "{{reason}}"),),
            ("TurnwireDialFailures", "TurnwireAgentUnreachable"),
            stacked=True,
        ),
        Panel(
            "Dial",
            "From the dial to the agent's yes to the handshake.",
            "s",
            quantiles("turnwire_dial_seconds", 0.5, 0.9, 0.99),
            ("TurnwireFirstByteSlow",),
        ),
        Panel(
            "Frames received",
            "Frames of agents per second. A stream's are counted when it ends.",
            "cps",
            (Query(rate("turnwire_frames_total"), "received"),),
        ),
        Panel(
            "Frames dropped, by why",
            "Foreign: of another turn of the session. Doubled: text that came twice. Unrecognised "
            "and malformed: the agent's wire has drifted.",
            "cps",
            (
                Query(rate("turnwire_frames_foreign_total"), "foreign"),
                Query(rate("turnwire_deltas_doubled_total"), "doubled"),
                Query(rate("turnwire_frames_unrecognised_total"), "unrecognised"),
                Query(rate("turnwire_frames_malformed_total"), "malformed"),
            ),
            ("TurnwireMalformedFrames",),
        ),
        Panel(
            "Unknown frame types",
            "Frames of types that the dialect does not know, since the process began. New types "
            "beyond 50 are `other`.",
            "short",
            (
                Query(
                    f"sum by (type) ({of('turnwire_frames_unrecognised_total')})",
                    "{{type}}",
                ),
            ),
            ("TurnwireUnknownFrames",),
        ),
        Panel(
            "Drift of the wire",
            "Frames with a type or fields that the dialect does not know, per second, of those "
            "looked into. The log names each once.",
            "cps",
            (
                Query(
                    rate("turnwire_drift_frames_total", by="dialect, kind"), "{{dialect}} {{kind}}"
                ),
            ),
            ("TurnwireUnknownFrames",),
        ),
        Panel(
            "Recordings of failed streams",
            "Per second, by what became of them; none without TURNWIRE_RECORD_DIR.",
            "cps",
            (Query(rate("turnwire_recordings_total", by="result"), "{{result}}"),),
            width=12,
        ),
        Panel(
            "Keepalives and full client buffers",
            "Keepalives: comments to streams that had nothing else to say. Full: times that a "
            "client did not read as fast as its agent wrote.",
            "cps",
            (
                Query(rate("turnwire_keepalives_total"), "keepalives"),
                Query(rate("turnwire_client_blocks_total"), "client full"),
            ),
            width=12,
        ),
    ),
)

SATURATION: Final = Row(
    "Saturation",
    (
        Panel(
            "Streams against their limit",
            "Places taken of TURNWIRE_MAX_STREAMS. At 100 % new streams are answered 503.",
            "percentunit",
            (
                Query(
                    share(of("turnwire_streams_admitted"), of("turnwire_streams_limit")),
                    _INSTANCE,
                ),
            ),
            ("TurnwireStreamsNearLimit",),
            limit=0.8,
        ),
        Panel(
            "Bytes held against their limit",
            "Of TURNWIRE_HELD_BYTES: bodies and prompts on their way, frames that are not whole, "
            "what clients have not taken.",
            "percentunit",
            (
                Query(
                    share(of("turnwire_held_bytes"), of("turnwire_held_bytes_limit")),
                    _INSTANCE,
                ),
            ),
            ("TurnwireHeldBytesNearLimit",),
            limit=0.8,
        ),
        Panel(
            "Descriptors against their limit",
            "Of the process's limit (`nofile`). A stream needs two.",
            "percentunit",
            (Query(share(of("process_open_fds"), of("process_max_fds")), _INSTANCE),),
            ("TurnwireDescriptorsNearLimit",),
            limit=0.8,
        ),
        Panel(
            "Lag of the event loop",
            "How late its timers come: every stream waits as long. `now` is what another thread "
            "sees, also while the loop stands still.",
            "s",
            (
                *quantiles("turnwire_event_loop_lag_seconds", 0.5, 0.99),
                Query(f"max({of('turnwire_event_loop_late_seconds')})", "now"),
            ),
            ("TurnwireLoopLags", "TurnwireLoopHangs"),
            limit=0.1,
        ),
        Panel(
            "Tasks",
            "Tasks of the event loop. They follow the open streams; what stays without them leaks.",
            "short",
            (Query(of("turnwire_tasks"), _INSTANCE),),
        ),
        Panel(
            "Users over their limits",
            "Answers 429 per second: as many streams as one user may have, or turns in a minute.",
            "reqps",
            (
                Query(
                    rate("turnwire_refusals_total", 'code=~"too_many_.*"', by="code"),
                    "{{code}}",
                ),
            ),
            ("TurnwireUsersLimited",),
            stacked=True,
        ),
    ),
)

SECURITY: Final = Row(
    "Security and refusals",
    (
        Panel(
            "Refusals, by code",
            "Requests answered with the status of a failure, per second.",
            "reqps",
            (Query(rate("turnwire_refusals_total", by="code"), "{{code}}"),),
            ("TurnwireTurnBudgetFast", "TurnwireCrashed"),
            stacked=True,
        ),
        Panel(
            "Tokens refused",
            "Share of requests answered 401: an attack, or a key that we do not have.",
            "percentunit",
            (
                Query(
                    share(
                        rate("turnwire_refusals_total", 'code="unauthorized"'),
                        rate("turnwire_requests_total"),
                    ),
                    "401",
                ),
            ),
            ("TurnwireUnauthorized",),
            limit=0.25,
        ),
        Panel(
            "Questions to the control plane",
            "Per second, by result. Answers from the cache are not counted.",
            "reqps",
            (Query(rate("turnwire_access_check_seconds_count", by="result"), "{{result}}"),),
            ("TurnwireAccessFailing",),
            stacked=True,
        ),
        Panel(
            "Time of the control plane",
            "How long its answers take; it is part of the time to the first byte.",
            "s",
            quantiles("turnwire_access_check_seconds", 0.5, 0.99),
            ("TurnwireAccessFailing", "TurnwireFirstByteSlow"),
        ),
        Panel(
            "Age of the key set",
            "Since it was fetched; it is fetched anew after ten minutes, when a token comes.",
            "s",
            (Query(of("turnwire_jwks_age_seconds"), _INSTANCE),),
            ("TurnwireJwksStale",),
            limit=3600,
        ),
        Panel(
            "Fetches of the key set, and of turn rates",
            "Key set: by result. Rates: times that their Redis could not be asked.",
            "cps",
            (
                Query(rate("turnwire_jwks_fetches_total", by="result"), "key set {{result}}"),
                Query(rate("turnwire_rate_store_failures_total"), "rates failed"),
            ),
            ("TurnwireJwksFailing", "TurnwireRateStoreFailing"),
        ),
    ),
)

PROCESS: Final = Row(
    "Process",
    (
        Panel(
            "Processor",
            "Cores used. A process can use one.",
            "percentunit",
            (
                Query(
                    f"rate({of('process_cpu_seconds_total')}[$__rate_interval])",
                    _INSTANCE,
                ),
            ),
            ("TurnwireCpuBusy",),
            limit=0.85,
        ),
        Panel(
            "Memory",
            "Resident memory.",
            "bytes",
            (Query(of("process_resident_memory_bytes"), _INSTANCE),),
        ),
        Panel(
            "Descriptors",
            "Open files and sockets.",
            "short",
            (Query(of("process_open_fds"), _INSTANCE),),
            ("TurnwireDescriptorsNearLimit",),
        ),
        Panel(
            "Ready processes",
            "How many want new streams, of how many there are. Workers of one instance count each.",
            "short",
            (
                Query(f"sum({of('turnwire_ready')})", "ready"),
                Query(f"count({of('turnwire_ready')})", "all"),
            ),
            ("TurnwireInstanceDown",),
            width=6,
        ),
        Panel(
            "Workers",
            "Of instances with `--workers`: how many run, and how many died and were replaced "
            "since it began.",
            "short",
            (
                Query(of("turnwire_workers"), "{{instance}} run"),
                Query(of("turnwire_worker_restarts_total"), "{{instance}} died"),
            ),
            ("TurnwireWorkersDying",),
            width=6,
        ),
        Panel(
            "Stopping",
            "Share used of the time that stopping may take, by the settings.",
            "percentunit",
            (
                Query(
                    share(of("turnwire_stopping_seconds"), of("turnwire_stopping_limit_seconds")),
                    _INSTANCE,
                ),
            ),
            ("TurnwireDrainStuck",),
            width=6,
            limit=1,
        ),
        Panel(
            "Processes, by version",
            "What runs. Two versions at once are a rollout, or one that got stuck.",
            "short",
            (Query(f"sum by (version) ({of('turnwire_build_info')})", "{{version}}"),),
            stacked=True,
            width=6,
        ),
    ),
)
