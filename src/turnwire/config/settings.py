"""The settings: one frozen struct. `turnwire.config.lists` parses the fields that are lists.

`turnwire.config.environ.from_environ` makes it, once.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from turnwire.config import dialect_defaults
from turnwire.config.dialect_defaults import Auth, Keeper, Thread
from turnwire.config.keys import Algorithm
from turnwire.config.values import SECONDS_MAX, Bytes, Count, LongTime, Port, Positive, Seconds
from turnwire.core.turn.limits import POLICIES
from turnwire.dialects import DIALECTS

PREFIX: Final = "TURNWIRE_"
LAB_PREFIX: Final = "TURNWIRE_LAB_"
"""Variables of the lab's commands, which run in the same shells. The gateway ignores them."""

ALIASES: Final = {"ENABLE_AI_SDK_ADAPTER": "enabled"}
"""Other names of variables: the RFC's name of the feature flag."""

SECRETS: Final = (
    *("jwt_key", "agent_token", "agent_headers", "agent_request", "signing_keys", "turn_log"),
)
"""Fields that can also be set by `…_FILE`: the path of a file that holds the value."""

PLACEHOLDER: Final = "{session_id}"


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One field per variable: `TURNWIRE_IDLE_S` sets `idle_s`. Times are in seconds.

    The value of a field with a `table` is a key of that table, or whatever its `load` takes.
    """

    enabled: Annotated[bool, Meta(description="The feature flag. Off: no chat routes.")] = False
    host: Annotated[str, Meta(min_length=1, description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[Port, Meta(description="Port to listen on.")] = 8787
    metrics_port: Annotated[
        Port, Meta(description="Port of `/metrics`, on the same address. 0: none.")
    ] = 9787
    agent_url: Annotated[
        str,
        Meta(
            description="URL of the agent: `ws:` or `wss:`, with `{session_id}` after the host. "
            "For a dialect over HTTP: `http:` or `https:`, with or without it."
        ),
    ] = ""
    agent_auth: Annotated[
        Auth | None,
        Meta(
            description="What the gateway sends to the agent in `Authorization`. `forward`: the "
            "user's token. `service`: `TURNWIRE_AGENT_TOKEN`. `none`: nothing. Under `service` "
            "and `none` the header `x-turnwire-user` has the user's id. Unset: `forward`. It "
            f"must be set for {dialect_defaults.needing('agent_auth')}."
        ),
    ] = None
    agent_token: Annotated[str, Meta(description="Token for `TURNWIRE_AGENT_AUTH=service`.")] = ""
    agent_headers: Annotated[
        str,
        Meta(
            description="Headers that the gateway adds to each request to the agent, as a JSON "
            'object: `{"x-api-key": "..."}`. One that the gateway sets itself is refused.'
        ),
    ] = ""
    agent_cwd: Annotated[str, Meta(description=dialect_defaults.AGENT_CWD)] = ""
    agent_model: Annotated[
        str, Meta(description="The model's name in requests to the agent, for a wire that has one.")
    ] = ""
    agent_request: Annotated[
        str,
        Meta(
            description='Fields to add to each request, in JSON: `{"temperature": 0.2}`. One that '
            "the gateway sets itself is refused."
        ),
    ] = ""
    agent_thread: Annotated[Thread | None, Meta(description=dialect_defaults.AGENT_THREAD)] = None
    agent_ca_file: Annotated[
        str,
        Meta(
            description="PEM file with the certificate authorities that may have signed the "
            "agent's certificate. Empty: those of the system."
        ),
    ] = ""
    agent_cert_file: Annotated[
        str, Meta(description="PEM file with the certificate that the gateway shows to the agent.")
    ] = ""
    agent_cert_key_file: Annotated[
        str, Meta(description="PEM file with its key, unencrypted. Empty: it is in the same file.")
    ] = ""
    dialect: Annotated[
        str, Meta(description=dialect_defaults.OF_DIALECT, extra=dialect_defaults.LOADED)
    ] = dialect_defaults.DIALECT
    insecure: Annotated[
        bool,
        Meta(
            description="Allow tokens over unencrypted `ws:` or `http:` to a host that is not "
            "loopback."
        ),
    ] = False
    auth: Annotated[
        Literal["jwt", "opaque"],
        Meta(
            description="How the gateway knows the user. `jwt`: by a signed token. `opaque`: by "
            "any token that the control plane knows; this needs `TURNWIRE_ACCESS=http`."
        ),
    ] = "jwt"
    jwt_algorithm: Annotated[
        Algorithm, Meta(description="The only algorithm that tokens may be signed with.")
    ] = "HS256"
    jwt_key: Annotated[
        str,
        Meta(
            description="The key that checks tokens, or several keys for rotation. `HS256`: "
            "separated by commas, each of 32 bytes or more. Other algorithms: public keys in PEM, "
            "one after the other."
        ),
    ] = ""
    jwt_jwks_url: Annotated[
        str,
        Meta(
            description="`https:` URL of a key set (JWKS) with the public keys, instead of "
            "`TURNWIRE_JWT_KEY`. Each token names its key by `kid`."
        ),
    ] = ""
    jwt_issuer: Annotated[
        str, Meta(description="The `iss` that a token must have. Empty: any.")
    ] = ""
    jwt_audience: Annotated[
        str, Meta(description="The `aud` that a token must have. Empty: any.")
    ] = ""
    jwt_leeway_s: Annotated[
        float, Meta(ge=0, le=300, description="Clock skew allowed in `exp` and `nbf`.")
    ] = 0.0
    token_expiry: Annotated[
        Literal["finish", "cut"],
        Meta(
            description="What happens to a stream if its token expires during the turn. `finish`: "
            "the turn goes on to its end. `cut`: the stream ends, and the turn is handled as if "
            "the client had hung up, but without a grace time."
        ),
    ] = "finish"  # noqa: S105 (no password)
    signing_keys: Annotated[
        str,
        Meta(
            description="Keys for approvals, separated by commas, each of 32 bytes or more. The "
            "first key signs, all keys check. A key of tokens is refused here. If keys are set, "
            "an approval is answered only by its signed id. Empty: clients get the portable "
            "profile alone, and whoever may answer a question may approve."
        ),
    ] = ""
    answers: Annotated[
        Literal["asker", "collaborators"],
        Meta(
            description="Who may answer a question or approve a call. `asker`: the user whose "
            "prompt the turn answers, or every collaborator if the agent does not name that user. "
            "`collaborators`: every collaborator of the session."
        ),
    ] = "asker"
    access: Annotated[
        Literal["claims", "http", "open"],
        Meta(
            description="Who may use a session. `claims`: the token's `sessions` claim says it. "
            "`http`: the control plane says it. `open`: everybody with a valid token, on loopback "
            "only."
        ),
    ] = "claims"
    access_url: Annotated[
        str,
        Meta(
            description="`http:` or `https:` URL of the control plane for `TURNWIRE_ACCESS=http`, "
            "with `{session_id}` after the host. The gateway asks it with the user's token."
        ),
    ] = ""
    access_cache_s: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description="How long the gateway remembers a role from the control plane. 0: it asks "
            "for each request.",
        ),
    ] = 5.0
    idle_s: Annotated[
        Seconds | None,
        Meta(
            description="Longest silence of the agent. Unset: the default of its dialect "
            f"({', '.join(f'{name}: {dialect.idle_s:g}' for name, dialect in DIALECTS.items())})."
        ),
    ] = None
    tool_silence_s: Annotated[Seconds, Meta(description="Longest silence while a tool runs.")] = (
        600.0
    )
    question_wait_s: Annotated[
        Seconds, Meta(description="Longest silence while a question is open.")
    ] = 330.0
    queue_wait_s: Annotated[
        Seconds, Meta(description="Longest silence while a prompt waits in the queue.")
    ] = 600.0
    turn_s: Annotated[Seconds, Meta(description="Longest turn.")] = 3600.0
    keepalive_s: Annotated[
        Seconds, Meta(description="After this time without a byte, the stream gets a comment.")
    ] = 15.0
    stall_s: Annotated[
        Seconds,
        Meta(
            description=(
                "A client that takes no bytes for this time is cut. The sockets of agents "
                "have the same limit."
            )
        ),
    ] = 20.0
    dial_s: Annotated[
        Seconds,
        Meta(
            description="Longest time to connect to the agent, with the handshake. Also the "
            "longest wait for the control plane and for the key set."
        ),
    ] = 5.0
    verdict_s: Annotated[
        Seconds,
        Meta(
            description="How long the gateway waits for the agent's reply to a stop or an answer."
        ),
    ] = 5.0
    drain_s: Annotated[
        Seconds, Meta(description="How long open turns may go on after SIGTERM.")
    ] = 30.0
    lameduck_s: Annotated[
        float,
        Meta(
            ge=0, le=SECONDS_MAX, description="How long `/readyz` says 503 before the drain begins."
        ),
    ] = 0.0
    backlog_bytes: Annotated[
        Bytes, Meta(description="Most bytes held for a client that does not read.")
    ] = 1_048_576
    held_bytes: Annotated[
        Count,
        Meta(
            description="Most bytes that a process holds for all users together: request bodies "
            "that are being read; prompts and files that the agent's socket has not taken; frames "
            "that are incomplete or wait for their processing; parts of streams and answers that "
            "clients have not taken. When the limit is reached, the largest request of the user "
            "who holds most ends. 0: no limit."
        ),
    ] = 201_326_592
    held_bytes_per_user: Annotated[
        Count,
        Meta(
            description="Most of these bytes for one user with several requests. When the limit "
            "is reached, the largest of these requests ends. 0: no separate limit for a user."
        ),
    ] = 35_651_584
    body_bytes: Annotated[
        Bytes,
        Meta(description="Largest request body. A prompt's text has 100,000 characters at most."),
    ] = 16_777_216
    frame_bytes: Annotated[Bytes, Meta(description="Largest frame of the agent.")] = 33_554_432
    attachments: Annotated[
        Count, Meta(description="Most files in one prompt. 0: files are refused.")
    ] = 8
    attachment_bytes: Annotated[
        Bytes,
        Meta(
            description="Largest file, measured as the URL that carries it: base64 is a third "
            "longer than the file."
        ),
    ] = 12_000_000
    attachment_types: Annotated[
        str,
        Meta(
            description="MIME types of files that are accepted, separated by commas; `kind/*` "
            "stands for all types of a kind. `image/svg+xml` can run code, so it is accepted only "
            "if the list names it."
        ),
    ] = "image/*,audio/*,application/pdf,text/*,application/json"
    attachment_hosts: Annotated[
        str,
        Meta(
            description="Hosts of `https:` URLs that a prompt may have as files, separated by "
            "commas. The gateway passes these URLs on and does not fetch them; the agent may. "
            "Empty: only `data:` URLs."
        ),
    ] = ""
    max_streams: Annotated[
        Count,
        Meta(
            description="Most open streams of this process; beyond that the answer is 503. 0: no "
            "limit."
        ),
    ] = 8000
    max_streams_per_user: Annotated[
        Count,
        Meta(
            description="Most open streams of one user in this process; beyond that the answer is "
            "429. 0: no limit."
        ),
    ] = 20
    turns_per_minute: Annotated[
        Count,
        Meta(
            description="Most turns that a user may begin in a minute; beyond that the answer is "
            "429. 0: no limit."
        ),
    ] = 0
    rates_url: Annotated[
        str,
        Meta(
            description="`redis:` or `rediss:` URL of a Redis in which all replicas count the "
            "turns of a user together (`pip install 'turnwire[redis]'`). Empty: each process "
            "counts for itself."
        ),
    ] = ""
    turn_log: Annotated[
        str,
        Meta(
            description="Where turns are kept for clients that come back, if the agent cannot "
            "repeat them. `off`: nowhere. `memory`: in this process, if it is the only one. A "
            "`redis:` URL: in a Redis that all processes share (`pip install 'turnwire[redis]'`). "
            "Empty: the dialect's default "
            f"({', '.join(f'{name}: {dialect_defaults.turn_log(name)}' for name in DIALECTS)})."
        ),
    ] = ""
    turn_log_bytes: Annotated[
        Bytes,
        Meta(description="Most bytes of a turn in the turn log. A longer one cannot be resumed."),
    ] = 8_388_608
    turn_log_total_bytes: Annotated[
        Bytes,
        Meta(
            description="Most bytes of all turns that this process keeps in its turn log. Beyond "
            "that, turns of the user with the most bytes are dropped, those that are over first."
        ),
    ] = 134_217_728
    turn_log_keep_s: Annotated[
        Seconds, Meta(description="How long the turn log keeps a turn that is over.")
    ] = 60.0
    question_keep_s: Annotated[Seconds, Meta(description=dialect_defaults.QUESTION_KEEP)] = 86_400.0
    session_keep_s: Annotated[LongTime, Meta(description=dialect_defaults.SESSION_KEEP)] = 2_592_000
    lag_s: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description="While the event loop is late by more than this, new streams and "
            "histories are refused with 503. 0: they are never refused for that.",
        ),
    ] = 1.0
    sessions: Annotated[
        Literal["together", "apart"] | None,
        Meta(
            description="Whether other processes serve streams of the same sessions. `apart`: "
            "they do. `together`: only this process does. Unset: `apart` with `--workers`, "
            "otherwise `together`."
        ),
    ] = None
    state: Annotated[
        Literal["off", "transient", "parts"], Meta(description=dialect_defaults.STATE)
    ] = "off"
    history: Annotated[
        Keeper | None,
        Meta(
            description="Who keeps the conversation. `agent`: the agent, which is sent only what "
            "is new. `client`: the client, whose messages are sent whole with each request. "
            "Unset: the default of the dialect ("
            f"{', '.join(f'{name}: {dialect_defaults.keeper(name)}' for name in DIALECTS)})."
        ),
    ] = None
    history_messages: Annotated[
        Positive,
        Meta(
            description="Most messages of a client that are sent to the agent where the client "
            "keeps the conversation. The oldest turns are left out first."
        ),
    ] = 500
    client_system: Annotated[
        bool,
        Meta(
            description="Send the system messages of a client that keeps the conversation. Any "
            "user can write such a message."
        ),
    ] = False
    threads: Annotated[
        Literal["shared", "chat"],
        Meta(
            description="Which thread a request uses if it names no channel. `shared`: all chats "
            "of a session share one thread. `chat`: each chat has its own thread, named by the "
            "`id` that `useChat` gives it."
        ),
    ] = "shared"
    on_disconnect: Annotated[
        str,
        Meta(
            description="What happens to the turn when its client hangs up. `abort`: the gateway "
            "aborts it. `grace`: the gateway aborts it, unless a client comes back within "
            "`TURNWIRE_GRACE_S`. `continue`: it goes on. A request may choose another policy by "
            "`?onDisconnect=`, if `TURNWIRE_ON_DISCONNECT_ALLOWED` allows that.",
            extra={"table": POLICIES},
        ),
    ] = "abort"
    on_disconnect_allowed: Annotated[
        str,
        Meta(
            description="Policies that a request may choose by `?onDisconnect=`, separated by "
            "commas: some of `abort`, `grace`, `continue`. This is the order from strict to "
            "lenient: a request may always choose `TURNWIRE_ON_DISCONNECT` or a stricter policy. "
            "Empty: no other policy."
        ),
    ] = ""
    grace_s: Annotated[
        Seconds, Meta(description="How long a client may stay away under `grace`.")
    ] = 30.0
    cors_origins: Annotated[
        str,
        Meta(
            description="Origins whose pages may call the chat routes, separated by commas and "
            "spelled as browsers do (`https://app.example`). `*`: any origin. Empty: none."
        ),
    ] = ""
    trusted_proxies: Annotated[
        str,
        Meta(
            description="Addresses and networks (CIDR) of the proxies whose `X-Forwarded-For` the "
            "gateway believes, separated by commas. Only the log uses that header. Empty: none."
        ),
    ] = ""
    event_lines: Annotated[bool, Meta(description=dialect_defaults.EVENT_LINES)] = True
    usage: Annotated[
        bool, Meta(description="Send the agent's token counts as metadata of `finish`.")
    ] = False
    log_format: Annotated[
        Literal["auto", "json", "console"],
        Meta(
            description="Form of the log. `json`: for programs. `console`: for people. `auto`: "
            "`console` if standard error is a terminal, otherwise `json`."
        ),
    ] = "auto"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="Lowest level that is logged."),
    ] = "info"
    tracing: Annotated[
        Literal["off", "otlp"],
        Meta(
            description="Where the gateway sends the spans of requests. `otlp`: to the collector "
            "that the standard `OTEL_*` variables name (`pip install 'turnwire[otel]'`). `off`: "
            "nowhere; `traceparent` is passed on."
        ),
    ] = "off"
    drift: Annotated[
        bool,
        Meta(description="Search some frames for types and fields that the dialect does not know."),
    ] = True
    drift_samples: Annotated[
        str,
        Meta(
            description="File to which the gateway adds what it found, without values: names, "
            "JSON kinds and lengths. Empty: no file."
        ),
    ] = ""
    record_dir: Annotated[
        str,
        Meta(
            description="Directory for recordings of failed streams, for `turnwire replay`. "
            "Empty: no recordings."
        ),
    ] = ""
    record_bytes: Annotated[
        Bytes,
        Meta(
            description="Most bytes of frames in the recording of one stream: its beginning and "
            "its end. The process holds them in memory while the stream runs."
        ),
    ] = 262_144
    record_files: Annotated[
        Positive,
        Meta(description="Most recordings in the directory. The oldest are deleted first."),
    ] = 100
    record_text: Annotated[
        bool,
        Meta(
            description="Keep the texts in recordings: prompts, answers, arguments, results, ids "
            "of users. Otherwise each letter and digit becomes `x`."
        ),
    ] = False

    def __repr__(self) -> str:
        shown = {k: v for k, v in msgspec.structs.asdict(self).items() if k not in SECRETS}
        return f"Settings({', '.join(f'{k}={v!r}' for k, v in shown.items())})"


def variable(field: str) -> str:
    """Return the name of the variable that sets a field."""
    return PREFIX + field.upper()
