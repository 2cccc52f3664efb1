"""The settings: one frozen struct. `turnwire.config.lists` parses the fields that are lists.

`turnwire.config.environ.from_environ` makes it, once.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from turnwire.config.keys import Algorithm
from turnwire.core.turn.limits import POLICIES
from turnwire.dialects import DIALECTS

PREFIX: Final = "TURNWIRE_"
LAB_PREFIX: Final = "TURNWIRE_LAB_"
"""Variables of the lab's commands, which run in the same shells. The gateway ignores them."""

ALIASES: Final = {"ENABLE_AI_SDK_ADAPTER": "enabled"}
"""Other names of variables: the RFC's name of the feature flag."""

SECRETS: Final = ("jwt_key", "agent_token", "signing_keys")
"""Fields that can also be set by `…_FILE`: the path of a file that holds the value."""

PLACEHOLDER: Final = "{session_id}"

SECONDS_MAX: Final = 1_000_000
"""Eleven days. Sockets hold their timeouts in milliseconds, in 31 bits."""

WHOLE_MAX: Final = 2**53
"""The greatest count that metrics, which are floats, hold exactly."""

_Seconds = Annotated[float, Meta(gt=0, le=SECONDS_MAX)]
_Port = Annotated[int, Meta(ge=0, le=65535)]
_Count = Annotated[int, Meta(ge=0, le=WHOLE_MAX)]
_Positive = Annotated[int, Meta(gt=0, le=WHOLE_MAX)]
_Bytes = _Positive


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One field per variable: `TURNWIRE_IDLE_S` sets `idle_s`. Times are in seconds.

    The value of a field with a `table` is a key of that table.
    """

    enabled: Annotated[bool, Meta(description="The feature flag. Off: no chat routes.")] = False
    host: Annotated[str, Meta(min_length=1, description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[_Port, Meta(description="Port to listen on.")] = 8787
    metrics_port: Annotated[
        _Port, Meta(description="Port of `/metrics`, on the same address. 0: none.")
    ] = 9787
    agent_url: Annotated[
        str,
        Meta(description="`ws:` or `wss:` URL of the agent, with `{session_id}` after the host."),
    ] = ""
    agent_auth: Annotated[
        Literal["forward", "service", "none"],
        Meta(
            description="What goes to the agent in `Authorization`: the user's token, "
            "`TURNWIRE_AGENT_TOKEN`, or nothing. Without the user's token, `x-turnwire-user` "
            "carries the user's id."
        ),
    ] = "forward"
    agent_token: Annotated[str, Meta(description="Token of `service` authentication.")] = ""
    agent_ca_file: Annotated[
        str,
        Meta(
            description="PEM file of the authorities that the agent's certificate is checked by. "
            "Empty: the system's."
        ),
    ] = ""
    agent_cert_file: Annotated[
        str, Meta(description="PEM file of the certificate that is shown to the agent.")
    ] = ""
    agent_cert_key_file: Annotated[
        str, Meta(description="PEM file of its key, unencrypted. Empty: it is in the same file.")
    ] = ""
    dialect: Annotated[str, Meta(description="The agent's wire.", extra={"table": DIALECTS})] = "v2"
    insecure: Annotated[
        bool,
        Meta(
            description="Allow tokens over plain `ws:` or `http:` to a host that is not loopback."
        ),
    ] = False
    auth: Annotated[
        Literal["jwt", "opaque"],
        Meta(
            description="How the user is known: by a signed token, or by any token that the "
            "control plane knows (`opaque`, which needs `http` access)."
        ),
    ] = "jwt"
    jwt_algorithm: Annotated[
        Algorithm, Meta(description="The one algorithm that tokens may be signed with.")
    ] = "HS256"
    jwt_key: Annotated[
        str,
        Meta(
            description="Key, or keys for rotation. `HS256`: 32 bytes or more each, separated by "
            "commas. Else public keys in PEM, one behind the other."
        ),
    ] = ""
    jwt_jwks_url: Annotated[
        str,
        Meta(
            description="In place of `TURNWIRE_JWT_KEY`: `https:` URL of the key set (JWKS) with "
            "the public keys, which tokens name by `kid`."
        ),
    ] = ""
    jwt_issuer: Annotated[str, Meta(description="Required `iss`. Empty: any.")] = ""
    jwt_audience: Annotated[str, Meta(description="Required `aud`. Empty: any.")] = ""
    jwt_leeway_s: Annotated[
        float, Meta(ge=0, le=300, description="Clock skew allowed in `exp` and `nbf`.")
    ] = 0.0
    token_expiry: Annotated[
        Literal["finish", "cut"],
        Meta(
            description="What becomes of a stream whose token expires in mid-turn: the turn may "
            "finish, or the stream is cut and the turn treated as at a hang-up, without a grace."
        ),
    ] = "finish"  # noqa: S105 (no password)
    signing_keys: Annotated[
        str,
        Meta(
            description="Keys that approvals are signed with, separated by commas: the first "
            "signs, all verify; 32 bytes or more each, and none that tokens are signed with. "
            "With them an approval is answered with its signed id alone. Empty: no profile but "
            "the portable one, and whoever may answer a question may approve."
        ),
    ] = ""
    answers: Annotated[
        Literal["asker", "collaborators"],
        Meta(
            description="Who may answer a question, or approve: the user whose prompt its turn "
            "answers, as far as the agent says who that is, or every collaborator of the session."
        ),
    ] = "asker"
    access: Annotated[
        Literal["claims", "http", "open"],
        Meta(
            description="Who may use a session: the token's `sessions` claim says so, or the "
            "control plane does, or everybody with a valid token may (`open`, loopback only)."
        ),
    ] = "claims"
    access_url: Annotated[
        str,
        Meta(
            description="`http:` or `https:` URL that `http` access asks with the user's token, "
            "with `{session_id}` after the host."
        ),
    ] = ""
    access_cache_s: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description="How long a role that the control plane told is good for. 0: it is asked "
            "each time.",
        ),
    ] = 5.0
    idle_s: Annotated[
        _Seconds | None,
        Meta(
            description="Longest silence of the agent. Unset: what suits the dialect "
            f"({', '.join(f'{name}: {dialect.idle_s:g}' for name, dialect in DIALECTS.items())})."
        ),
    ] = None
    tool_silence_s: Annotated[_Seconds, Meta(description="Longest silence while a tool runs.")] = (
        600.0
    )
    question_wait_s: Annotated[
        _Seconds, Meta(description="Longest silence while a question is open.")
    ] = 330.0
    queue_wait_s: Annotated[
        _Seconds, Meta(description="Longest silence while a prompt waits in the queue.")
    ] = 600.0
    turn_s: Annotated[_Seconds, Meta(description="Longest turn.")] = 3600.0
    keepalive_s: Annotated[
        _Seconds, Meta(description="A comment is sent after so long without a byte.")
    ] = 15.0
    stall_s: Annotated[
        _Seconds,
        Meta(
            description=(
                "A client that takes nothing for so long is cut; also the limit of agents' sockets."
            )
        ),
    ] = 20.0
    dial_s: Annotated[
        _Seconds,
        Meta(
            description="Longest dial, handshake included; also the longest wait for the "
            "control plane, and for the key set."
        ),
    ] = 5.0
    verdict_s: Annotated[
        _Seconds,
        Meta(description="How long the agent may take to say what became of a stop or an answer."),
    ] = 5.0
    drain_s: Annotated[
        _Seconds, Meta(description="How long open turns may go on after SIGTERM.")
    ] = 30.0
    lameduck_s: Annotated[
        float,
        Meta(
            ge=0, le=SECONDS_MAX, description="How long `/readyz` says 503 before the drain begins."
        ),
    ] = 0.0
    backlog_bytes: Annotated[
        _Bytes, Meta(description="Most bytes held for a client that does not read.")
    ] = 1_048_576
    held_bytes: Annotated[
        _Count,
        Meta(
            description="Most bytes held for all users of a process together: request bodies "
            "that are being read, prompts and files that the agent's socket has not taken, frames "
            "that are not whole or not looked into yet, and what clients have not taken of streams "
            "and answers. When they are spent, the user who holds most pays: their largest request "
            "ends. 0: no limit."
        ),
    ] = 201_326_592
    held_bytes_per_user: Annotated[
        _Count,
        Meta(
            description="Most of these bytes that several requests of one user hold together. With "
            "the next one the largest of them ends. 0: no limit of its own."
        ),
    ] = 35_651_584
    body_bytes: Annotated[
        _Bytes,
        Meta(description="Largest request body. A prompt's text has 100,000 characters at most."),
    ] = 16_777_216
    frame_bytes: Annotated[_Bytes, Meta(description="Largest frame of the agent.")] = 33_554_432
    attachments: Annotated[
        _Count, Meta(description="Most files with one prompt. 0: none are taken.")
    ] = 8
    attachment_bytes: Annotated[
        _Bytes,
        Meta(description="Largest file, as its URL: base64 is a third longer than the file."),
    ] = 12_000_000
    attachment_types: Annotated[
        str,
        Meta(
            description="MIME types of files that are taken, separated by commas; `kind/*` for all "
            "of a kind. `image/svg+xml` can run code, and is taken only if it is named."
        ),
    ] = "image/*,audio/*,application/pdf,text/*,application/json"
    attachment_hosts: Annotated[
        str,
        Meta(
            description="Hosts whose `https:` URLs are passed on as files, separated by commas. "
            "The gateway fetches none of them; the agent may. Empty: `data:` URLs alone."
        ),
    ] = ""
    max_streams: Annotated[
        _Count, Meta(description="Open streams of this process; over it 503. 0: no limit.")
    ] = 8000
    max_streams_per_user: Annotated[
        _Count, Meta(description="Open streams of one user here; over it 429. 0: no limit.")
    ] = 20
    turns_per_minute: Annotated[
        _Count,
        Meta(description="Turns that a user may begin in a minute; over it 429. 0: no limit."),
    ] = 0
    rates_url: Annotated[
        str,
        Meta(
            description="`redis:` or `rediss:` URL where all replicas count the turns of a user "
            "together (`pip install 'turnwire[redis]'`). Empty: each process by itself."
        ),
    ] = ""
    lag_s: Annotated[
        float,
        Meta(
            ge=0,
            le=60,
            description="New streams and histories are refused with 503 while the event loop is "
            "late by more. 0: however late it is.",
        ),
    ] = 1.0
    sessions: Annotated[
        Literal["together", "apart"] | None,
        Meta(
            description="`apart`: other processes serve a session too. `together`: this process "
            "alone does. Unset: `apart` with `--workers`, else `together`."
        ),
    ] = None
    threads: Annotated[
        Literal["shared", "chat"],
        Meta(
            description="Where a request names no channel: all chats of a session share one, or "
            "each has a thread of its own, named by the `id` that `useChat` gives it."
        ),
    ] = "shared"
    on_disconnect: Annotated[
        str,
        Meta(
            description="What becomes of the turn when its client hangs up: it is aborted, goes "
            "on, or is aborted unless somebody comes back to it within `TURNWIRE_GRACE_S`. A "
            "request may say otherwise by `?onDisconnect=`, as far as "
            "`TURNWIRE_ON_DISCONNECT_ALLOWED` goes.",
            extra={"table": POLICIES},
        ),
    ] = "abort"
    on_disconnect_allowed: Annotated[
        str,
        Meta(
            description="What a request may ask for by `?onDisconnect=`: some of `abort`, `grace`, "
            "`continue`, separated by commas. `TURNWIRE_ON_DISCONNECT` and what is stricter, in "
            "this order, it always may. Empty: nothing else."
        ),
    ] = ""
    grace_s: Annotated[
        _Seconds, Meta(description="How long a client may stay away under `grace`.")
    ] = 30.0
    cors_origins: Annotated[
        str,
        Meta(
            description="Origins whose pages may call the chat routes, separated by commas and "
            "spelled as browsers do (`https://app.example`); `*`: any. Empty: none."
        ),
    ] = ""
    trusted_proxies: Annotated[
        str,
        Meta(
            description="Addresses and networks (CIDR) of proxies whose `X-Forwarded-For` is "
            "believed, separated by commas. It is for the log alone. Empty: none."
        ),
    ] = ""
    event_lines: Annotated[bool, Meta(description="Send `event:` lines.")] = True
    usage: Annotated[
        bool, Meta(description="Send the agent's token counts as metadata of `finish`.")
    ] = False
    log_format: Annotated[
        Literal["auto", "json", "console"],
        Meta(
            description="Form of the log: JSON, lines for a person, or the latter where standard "
            "error is a terminal."
        ),
    ] = "auto"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="Least level of the log.")
    ] = "info"
    tracing: Annotated[
        Literal["off", "otlp"],
        Meta(
            description="Where the spans of requests go; the standard `OTEL_*` variables say which "
            "collector (`pip install 'turnwire[otel]'`). Off: `traceparent` is passed on."
        ),
    ] = "off"
    drift: Annotated[
        bool,
        Meta(
            description="Look into some frames for types and fields that this build does not know."
        ),
    ] = True
    drift_samples: Annotated[
        str,
        Meta(
            description="File to which what is found is added, without its values: names, JSON "
            "kinds, lengths. Empty: none."
        ),
    ] = ""
    record_dir: Annotated[
        str,
        Meta(
            description="Directory for recordings of streams that failed, for `turnwire replay`. "
            "Empty: none are made."
        ),
    ] = ""
    record_bytes: Annotated[
        _Bytes,
        Meta(
            description="Most bytes of frames that are recorded of a stream, its beginning and its "
            "end; held in memory while it runs."
        ),
    ] = 262_144
    record_files: Annotated[
        _Positive, Meta(description="Most recordings in the directory; the oldest go first.")
    ] = 100
    record_text: Annotated[
        bool,
        Meta(
            description="Keep what was said in recordings: prompts, answers, arguments, results, "
            "people's ids. Else letters and digits become `x`."
        ),
    ] = False

    def __repr__(self) -> str:
        shown = {k: v for k, v in msgspec.structs.asdict(self).items() if k not in SECRETS}
        return f"Settings({', '.join(f'{k}={v!r}' for k, v in shown.items())})"


def variable(field: str) -> str:
    """Return the name of the variable that sets a field."""
    return PREFIX + field.upper()
