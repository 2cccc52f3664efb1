"""Settings that contradict each other, or need what this machine does not have.

Each check reads some settings and returns its problems, one line for each. `environ` has checked
the value of every setting by itself.
"""

import importlib.util
import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Final, TypeAlias, cast

import msgspec

from turnwire.config.dialect_loading import find
from turnwire.config.effective import history_keeper, turn_log_place
from turnwire.config.files import directory_problem, file_problem
from turnwire.config.headers import BadHeadersError, agent_headers
from turnwire.config.keys import HMAC_KEY_BYTES_MIN, BadKeyError
from turnwire.config.lists import keys, listed, origins, policies, signing_keys, trusted_proxies
from turnwire.config.settings import PLACEHOLDER, Settings, variable
from turnwire.config.tls import BadCertificateError, agent_tls
from turnwire.config.urls import is_loopback, is_origin, url_problem
from turnwire.config.wire import wire_problems
from turnwire.core.turn.limits import POLICIES
from turnwire.relay.agent.port import Scheme
from turnwire.relay.agent.transports import TRANSPORTS

_MIME_PATTERN: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:\*|[a-z0-9!#$&^_.+-]+)")
REDIS: Final = tuple(
    f"{scheme}{kind}://" for kind in ("", "+cluster", "+sentinel") for scheme in ("redis", "rediss")
)
"""How the URL of a Redis begins."""
_HOST: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*")


def conflicts(settings: Settings, invalid: AbstractSet[str]) -> list[str]:
    """Return one line for each conflict, leaving out the fields whose value is `invalid` anyway."""
    readable = cast("Settings", _Partial(settings, invalid)) if invalid else settings
    problems: list[str] = []
    for check in _CHECKS:
        with suppress(_InvalidFieldError):
            problems += check(readable)
    return problems


class _InvalidFieldError(Exception):
    """A check read a field whose value is invalid."""


class _Partial:
    """Settings with invalid fields. Reading one of those raises `_InvalidFieldError`.

    So a check that depends on an invalid field is skipped.
    """

    def __init__(self, settings: Settings, invalid: AbstractSet[str]) -> None:
        self._settings = settings
        self._invalid = invalid

    def __getattr__(self, field: str) -> object:
        if field in self._invalid:
            raise _InvalidFieldError
        return getattr(self._settings, field)


def _port_problems(settings: Settings) -> list[str]:
    if settings.port and settings.port == settings.metrics_port:
        return ["TURNWIRE_METRICS_PORT: is TURNWIRE_PORT too"]
    return []


def _open_problems(settings: Settings) -> list[str]:
    if settings.access == "open" and not is_loopback(settings.host):
        return ["TURNWIRE_ACCESS: `open` is for loopback addresses only"]
    return []


def _opaque_problems(settings: Settings) -> list[str]:
    if settings.auth == "opaque" and settings.access != "http":
        return ["TURNWIRE_AUTH: `opaque` needs TURNWIRE_ACCESS=http"]
    return []


def _tracing_problems(settings: Settings) -> list[str]:
    if settings.tracing == "otlp" and not _is_installed("opentelemetry.exporter.otlp.proto.http"):
        return ["TURNWIRE_TRACING: `otlp` needs pip install 'turnwire[otel]'"]
    return []


def _rates_problems(settings: Settings) -> list[str]:
    if settings.rates_url and not _is_installed("redis"):
        return ["TURNWIRE_RATES_URL: needs pip install 'turnwire[redis]'"]
    return []


def _turn_log_problems(settings: Settings) -> list[str]:
    log = turn_log_place(settings)
    if log in {"off", "memory"}:
        return []
    if not log.startswith(REDIS):
        schemes = ", ".join(scheme.removesuffix("//") for scheme in REDIS)
        return [f"TURNWIRE_TURN_LOG: must be off, memory, or a URL of {schemes}"]
    if not (_is_installed("redis") and _is_installed("hiredis")):
        return ["TURNWIRE_TURN_LOG: needs pip install 'turnwire[redis]'"]
    return []


def _proxy_problems(settings: Settings) -> list[str]:
    if len(trusted_proxies(settings)) < len(listed(settings.trusted_proxies)):
        return ["TURNWIRE_TRUSTED_PROXIES: must be addresses, or networks like 10.0.0.0/8"]
    return []


def _agent_url_problems(settings: Settings) -> list[str]:
    if not settings.agent_url:
        return ["TURNWIRE_AGENT_URL: required"] if settings.enabled else []
    scheme = _agent_scheme(settings)
    given = settings.agent_url.partition("://")[0].lower()
    if given in _SCHEMES - {scheme.name, scheme.with_tls}:
        wanted = f"{scheme.name}:// or {scheme.with_tls}://"
        dialect = f"TURNWIRE_DIALECT={settings.dialect}"
        return [f"TURNWIRE_AGENT_URL: must start with {wanted}, not {given}://, for {dialect}"]
    return _url_problems(settings, "agent_url", scheme.name, needs_session=scheme.needs_session)


def _agent_scheme(settings: Settings) -> Scheme:
    """The scheme of the transport that carries the dialect."""
    try:
        dialect = settings.dialect
    except _InvalidFieldError:  # the rest of the URL can be checked all the same
        dialect = _DEFAULTS["dialect"]
    return TRANSPORTS[find(dialect).transport].scheme


def _agent_headers_problems(settings: Settings) -> list[str]:
    try:
        agent_headers(settings)
    except BadHeadersError as exc:
        return [f"TURNWIRE_AGENT_HEADERS: {exc}"]
    return []


def _access_url_problems(settings: Settings) -> list[str]:
    if settings.access != "http":
        return []
    if not settings.access_url:
        required = ["TURNWIRE_ACCESS_URL: required by TURNWIRE_ACCESS=http"]
        return required if settings.enabled else []
    return _url_problems(settings, "access_url", "http")


def _agent_token_problems(settings: Settings) -> list[str]:
    if not re.fullmatch(r"[\x21-\x7e]*", settings.agent_token):
        return ["TURNWIRE_AGENT_TOKEN: must be one word of visible ASCII"]
    if settings.enabled and settings.agent_auth == "service" and not settings.agent_token:
        return ["TURNWIRE_AGENT_TOKEN: required by TURNWIRE_AGENT_AUTH=service"]
    return []


def _missing_key_problems(settings: Settings) -> list[str]:
    if not settings.enabled or settings.auth != "jwt":
        return []
    if not settings.jwt_key and not settings.jwt_jwks_url:
        return ["TURNWIRE_JWT_KEY: required (or TURNWIRE_JWT_JWKS_URL)"]
    return []


def _tls_problems(settings: Settings) -> list[str]:
    try:
        agent_tls(settings)
    except BadCertificateError as exc:
        return [f"{variable(exc.field)}: {exc}"]
    return []


def _path_problems(settings: Settings) -> list[str]:
    """Check now that the process can write the files that it writes later."""
    by_field = {
        "drift_samples": file_problem(settings.drift_samples) if settings.drift_samples else None,
        "record_dir": directory_problem(settings.record_dir) if settings.record_dir else None,
    }
    return [f"{variable(field)}: {problem}" for field, problem in by_field.items() if problem]


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is not installed
        return False


def _attachment_problems(settings: Settings) -> list[str]:
    problems = []
    if not all(_MIME_PATTERN.fullmatch(entry) for entry in listed(settings.attachment_types)):
        problems.append("TURNWIRE_ATTACHMENT_TYPES: must be types like image/png or image/*")
    if not all(_HOST.fullmatch(entry) for entry in listed(settings.attachment_hosts)):
        problems.append("TURNWIRE_ATTACHMENT_HOSTS: must be host names, without ports")
    return problems


def _policy_problems(settings: Settings) -> list[str]:
    if not policies(settings) <= set(POLICIES):
        return [f"TURNWIRE_ON_DISCONNECT_ALLOWED: must be some of {', '.join(POLICIES)}"]
    return []


def _signing_problems(settings: Settings) -> list[str]:
    if any(len(key) < HMAC_KEY_BYTES_MIN for key in signing_keys(settings)):
        return [f"TURNWIRE_SIGNING_KEYS: a key has fewer than {HMAC_KEY_BYTES_MIN} bytes"]
    return []


def _shared_key_problems(settings: Settings) -> list[str]:
    token_keys = {key.strip().encode() for key in settings.jwt_key.split(",")}
    if not token_keys.isdisjoint(signing_keys(settings)):
        return ["TURNWIRE_SIGNING_KEYS: a key is in TURNWIRE_JWT_KEY too"]
    return []


def _cors_problems(settings: Settings) -> list[str]:
    allowed = origins(settings)
    if allowed == ("*",) or all(map(is_origin, allowed)):
        return []
    return ["TURNWIRE_CORS_ORIGINS: must be * alone, or origins as browsers spell them"]


def _expiry_problems(settings: Settings) -> list[str]:
    if settings.auth == "opaque" and settings.token_expiry == "cut":  # noqa: S105 (no password)
        return ["TURNWIRE_TOKEN_EXPIRY: nobody here knows when an `opaque` token expires"]
    return []


def _key_problems(settings: Settings) -> list[str]:
    if settings.auth == "opaque" or settings.jwt_jwks_url or not settings.jwt_key:
        return []
    try:
        keys(settings)
    except BadKeyError as exc:
        return [f"TURNWIRE_JWT_KEY: {exc}"]
    return []


def _key_set_url_problems(settings: Settings) -> list[str]:
    if settings.auth == "opaque" or not settings.jwt_jwks_url:
        return []
    # No waiver: who can replace the keys on their way can sign a token for any user.
    problem = url_problem(settings.jwt_jwks_url, "http", plain="keys could be forged")
    return [] if problem is None else [f"TURNWIRE_JWT_JWKS_URL: {problem}"]


def _key_set_problems(settings: Settings) -> list[str]:
    if settings.auth == "opaque" or not settings.jwt_jwks_url:
        return []
    problems = []
    if settings.jwt_key:
        problems.append("TURNWIRE_JWT_JWKS_URL: TURNWIRE_JWT_KEY is set too")
    if settings.jwt_algorithm == "HS256":
        problems.append("TURNWIRE_JWT_JWKS_URL: no key set may hold keys of HS256")
    return problems


def _history_problems(settings: Settings) -> list[str]:
    if settings.history == "client" and find(settings.dialect).keeps_history:
        return [f"TURNWIRE_HISTORY: an agent that speaks {settings.dialect} keeps the conversation"]
    return []


def _url_problems(
    settings: Settings, field: str, scheme: str, *, needs_session: bool = True
) -> list[str]:
    """Problems of the URL in `field`, which must contain `{session_id}` if `needs_session`.

    `scheme` is its scheme without TLS.
    """
    plain: str | None = "a token would travel"
    url: str = getattr(settings, field)
    try:
        if settings.insecure or (field == "agent_url" and _sends_no_secret(settings)):
            plain = None
    except _InvalidFieldError:  # plain connections may be allowed
        plain = None
    problem = url_problem(
        url,
        scheme,
        plain=plain,
        waiver="TURNWIRE_INSECURE=true",
        placeholder=PLACEHOLDER if needs_session or PLACEHOLDER in url else None,
    )
    return [] if problem is None else [f"{variable(field)}: {problem}"]


def _sends_no_secret(settings: Settings) -> bool:
    """Whether the agent gets neither a token nor a header that is a secret."""
    return settings.agent_auth == "none" and not settings.agent_headers


def _idle_problems(settings: Settings) -> list[str]:
    """Settings that have no effect, because they need another setting."""
    if not settings.enabled:
        return []
    problems = []
    for fields, needed, is_met in _REQUIREMENTS:
        with suppress(_InvalidFieldError):
            if not is_met(settings):
                what = needed if isinstance(needed, str) else needed(settings)
                problems += [
                    f"{variable(field)}: does nothing without {what}"
                    for field in fields
                    if getattr(settings, field) != _DEFAULTS[field]
                ]
    return problems


_SCHEMES: Final = frozenset(
    name
    for transport in TRANSPORTS.values()
    for name in (transport.scheme.name, transport.scheme.with_tls)
)
"""Those of all transports."""

_DEFAULTS: Final = msgspec.structs.asdict(Settings())

_Needed: TypeAlias = str | Callable[[Settings], str]

_REQUIREMENTS: Final[Sequence[tuple[Sequence[str], _Needed, Callable[[Settings], object]]]] = (
    (("rates_url",), "TURNWIRE_TURNS_PER_MINUTE", lambda s: s.turns_per_minute),
    (
        ("turn_log_bytes", "turn_log_total_bytes", "turn_log_keep_s", "question_keep_s"),
        "TURNWIRE_TURN_LOG",
        lambda s: turn_log_place(s) != "off",
    ),
    (("agent_token",), "TURNWIRE_AGENT_AUTH=service", lambda s: s.agent_auth == "service"),
    (("agent_cert_key_file",), "TURNWIRE_AGENT_CERT_FILE", lambda s: s.agent_cert_file),
    (
        ("agent_ca_file", "agent_cert_file"),
        lambda s: f"a {_agent_scheme(s).with_tls}: URL in TURNWIRE_AGENT_URL",
        lambda s: not s.agent_url.lower().startswith(f"{_agent_scheme(s).name}:"),
    ),
    (("access_url", "access_cache_s"), "TURNWIRE_ACCESS=http", lambda s: s.access == "http"),
    (("agent_thread",), "TURNWIRE_HISTORY=agent", lambda s: history_keeper(s) == "agent"),
    (
        ("agent_thread",),
        "TURNWIRE_TURN_LOG",
        lambda s: s.agent_thread == "conversation" or turn_log_place(s) != "off",
    ),
    (
        ("history_messages", "client_system"),
        "TURNWIRE_HISTORY=client",
        lambda s: history_keeper(s) == "client",
    ),
    (("jwt_issuer", "jwt_audience"), "TURNWIRE_AUTH=jwt", lambda s: s.auth == "jwt"),
    (
        ("attachment_bytes", "attachment_types", "attachment_hosts"),
        "TURNWIRE_ATTACHMENTS",
        lambda s: s.attachments,
    ),
    (("drift_samples",), "TURNWIRE_DRIFT=true", lambda s: s.drift),
    (
        ("record_bytes", "record_files", "record_text"),
        "TURNWIRE_RECORD_DIR",
        lambda s: s.record_dir,
    ),
)
"""Fields that have no effect without a condition; the condition as text; its check."""

_CHECKS: Final[Sequence[Callable[[Settings], list[str]]]] = (
    _port_problems,
    _open_problems,
    _opaque_problems,
    _tracing_problems,
    _rates_problems,
    _turn_log_problems,
    _attachment_problems,
    _policy_problems,
    _signing_problems,
    _shared_key_problems,
    _cors_problems,
    _proxy_problems,
    _expiry_problems,
    _key_set_url_problems,
    _key_set_problems,
    _key_problems,
    _agent_url_problems,
    _history_problems,
    wire_problems,
    _access_url_problems,
    _agent_token_problems,
    _agent_headers_problems,
    _missing_key_problems,
    _tls_problems,
    _idle_problems,
    _path_problems,
)
