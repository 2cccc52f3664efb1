"""Settings: one frozen struct, read once from `TURNWIRE_*` variables."""

import ipaddress
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from turnwire.errors import SettingsError

PREFIX: Final = "TURNWIRE_"
LAB_PREFIX: Final = "TURNWIRE_LAB_"
"""Variables of the lab's commands, which live in the same shells. Not ours."""

ALIASES: Final = {"ENABLE_AI_SDK_ADAPTER": "enabled"}
"""The RFC's name of the feature flag."""

SECRETS: Final = ("jwt_key", "agent_token")
"""Each also as `…_FILE`: the path of a file that holds it."""

PLACEHOLDER: Final = "{session_id}"
HMAC_KEY_BYTES_MIN: Final = 32

SECONDS_MAX: Final = 1_000_000
"""Eleven days. Sockets count their timeouts in milliseconds, in 31 bits."""

_Seconds = Annotated[float, Meta(gt=0, le=SECONDS_MAX)]
_Port = Annotated[int, Meta(ge=0, le=65535)]
_Count = Annotated[int, Meta(ge=0)]
_Bytes = Annotated[int, Meta(gt=0)]


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One field per variable: `TURNWIRE_IDLE_S` sets `idle_s`. Times are in seconds."""

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
    dialect: Annotated[Literal["v2", "session-agent"], Meta(description="The agent's wire.")] = "v2"
    insecure: Annotated[
        bool, Meta(description="Allow tokens over plain `ws:` to a host that is not loopback.")
    ] = False
    auth: Annotated[Literal["jwt"], Meta(description="How the user is known.")] = "jwt"
    jwt_algorithm: Annotated[
        Literal["HS256"], Meta(description="The one algorithm that tokens may be signed with.")
    ] = "HS256"
    jwt_key: Annotated[
        str,
        Meta(description="Key, or keys separated by commas for rotation; 32 bytes or more each."),
    ] = ""
    jwt_issuer: Annotated[str, Meta(description="Required `iss`. Empty: any.")] = ""
    jwt_audience: Annotated[str, Meta(description="Required `aud`. Empty: any.")] = ""
    jwt_leeway_s: Annotated[
        float, Meta(ge=0, le=300, description="Clock skew allowed in `exp` and `nbf`.")
    ] = 0.0
    access: Annotated[
        Literal["claims", "open"],
        Meta(
            description="Who may use a session: the token's `sessions` claim says so, or everybody "
            "with a valid token may (`open`, loopback only)."
        ),
    ] = "claims"
    idle_s: Annotated[
        _Seconds | None,
        Meta(
            description="Longest silence of the agent. Unset: what suits the dialect "
            "(v2: 120, session-agent: 330)."
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
            description="A client that reads nothing for so long is cut; also the sockets' limit."
        ),
    ] = 20.0
    dial_s: Annotated[_Seconds, Meta(description="Longest dial, handshake included.")] = 5.0
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
    body_bytes: Annotated[_Bytes, Meta(description="Largest request body.")] = 16_777_216
    frame_bytes: Annotated[_Bytes, Meta(description="Largest frame of the agent.")] = 33_554_432
    max_streams: Annotated[
        _Count, Meta(description="Open streams of this process; over it 503. 0: no limit.")
    ] = 8000
    max_streams_per_user: Annotated[
        _Count, Meta(description="Open streams of one user here; over it 429. 0: no limit.")
    ] = 20
    on_disconnect: Annotated[
        Literal["abort", "continue"],
        Meta(description="What becomes of the turn when its client hangs up."),
    ] = "abort"
    event_lines: Annotated[bool, Meta(description="Send `event:` lines.")] = True
    usage: Annotated[
        bool, Meta(description="Send the agent's token counts as metadata of `finish`.")
    ] = False

    def __repr__(self) -> str:
        shown = {k: v for k, v in msgspec.structs.asdict(self).items() if k not in SECRETS}
        return f"Settings({', '.join(f'{k}={v!r}' for k, v in shown.items())})"


def from_environ(environ: Mapping[str, str]) -> Settings:
    """Read the settings.

    Raises:
        SettingsError: an unknown variable, a wrong value, or values that do
            not go together; one line for each.

    """
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in environ.items():
        if name in ALIASES:
            values.setdefault(ALIASES[name], value)
        elif name.startswith(PREFIX) and not name.startswith(LAB_PREFIX):
            _take(name, environ, values, problems)
    settings = _convert(values, problems)
    if settings is not None:
        problems += _contradictions(settings)
    if problems or settings is None:
        raise SettingsError(problems)
    return settings


def variable(field: str) -> str:
    """The variable that sets a field."""
    return PREFIX + field.upper()


def _take(
    name: str, environ: Mapping[str, str], values: dict[str, Any], problems: list[str]
) -> None:
    value = environ[name]
    field = name.removeprefix(PREFIX).lower()
    of_file = field.removesuffix("_file")
    if field in Settings.__struct_fields__:
        values[field] = value
    elif of_file != field and of_file in SECRETS:
        if variable(of_file) in environ:
            problems.append(f"{name}: {variable(of_file)} is set too")
            return
        try:
            values[of_file] = Path(value).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as exc:
            problems.append(f"{name}: cannot be read ({type(exc).__name__})")
    else:
        problems.append(f"{name}: no such setting")


def _convert(values: dict[str, Any], problems: list[str]) -> Settings | None:
    """Check each value by itself, so that every wrong one is told at once."""
    hints = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    good: dict[str, Any] = {}
    for field, value in values.items():
        try:
            good[field] = msgspec.convert(value, hints[field], strict=False)
        except msgspec.ValidationError as exc:
            problems.append(f"{variable(field)}: {_expected(hints[field]) or exc}")
    return None if problems else Settings(**good)


def _expected(hint: Any) -> str:
    """What a value must be, where the library says it in words of its own."""
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(inner) is Literal:
        return f"must be one of {', '.join(get_args(inner))}"
    return "must be true or false" if inner is bool else ""


def _contradictions(settings: Settings) -> list[str]:
    problems = []
    if settings.port and settings.port == settings.metrics_port:
        problems.append("TURNWIRE_METRICS_PORT: is TURNWIRE_PORT too")
    if settings.access == "open" and not is_loopback(settings.host):
        problems.append("TURNWIRE_ACCESS: `open` is for loopback addresses only")
    if not settings.enabled:
        return problems
    if settings.agent_url:
        problems += _agent_url_problems(settings)
    else:
        problems.append("TURNWIRE_AGENT_URL: required")
    if settings.agent_auth == "service" and not settings.agent_token:
        problems.append("TURNWIRE_AGENT_TOKEN: required by TURNWIRE_AGENT_AUTH=service")
    if not re.fullmatch(r"[\x21-\x7e]*", settings.agent_token):
        problems.append("TURNWIRE_AGENT_TOKEN: must be one word of visible ASCII")
    if not settings.jwt_key:
        problems.append("TURNWIRE_JWT_KEY: required")
    elif any(len(key.encode()) < HMAC_KEY_BYTES_MIN for key in keys(settings)):
        problems.append(f"TURNWIRE_JWT_KEY: a key has fewer than {HMAC_KEY_BYTES_MIN} bytes")
    return problems


def keys(settings: Settings) -> list[str]:
    """The keys that tokens may be signed with."""
    return [key.strip() for key in settings.jwt_key.split(",")]


def _agent_url_problems(settings: Settings) -> list[str]:
    name = "TURNWIRE_AGENT_URL"
    try:
        url = urlsplit(settings.agent_url)
        host, _port = url.hostname, url.port
    except ValueError:
        return [f"{name}: not a URL"]
    if url.scheme not in {"ws", "wss"} or not host:
        return [f"{name}: must start with ws:// or wss:// and a host"]
    if not settings.agent_url.isascii():
        return [f"{name}: must be ASCII (an international host in its `xn--` form)"]
    if url.username is not None or url.fragment or re.search(r"\s", settings.agent_url):
        return [f"{name}: must have no user, no fragment and no white space"]
    if PLACEHOLDER in url.netloc or PLACEHOLDER not in settings.agent_url:
        return [f"{name}: {PLACEHOLDER} must stand in it, after the host"]
    tokens_travel = settings.agent_auth != "none"
    if url.scheme == "ws" and tokens_travel and not settings.insecure and not is_loopback(host):
        return [f"{name}: a token would travel over plain ws: (TURNWIRE_INSECURE=true allows it)"]
    return []


def is_loopback(host: str) -> bool:
    """Whether an address, or the name `localhost`, stays on this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
