"""Read the settings from `TURNWIRE_*` variables, and check them.

`from_environ(os.environ)` returns `Settings`, or raises `SettingsError` with all problems.
"""

import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, Final, TypeAlias, cast

import msgspec
from msgspec import inspect

from turnwire.config.files import UnreadableError, directory_problem, file_problem, read_secret
from turnwire.config.hang_ups import POLICIES, policies
from turnwire.config.keys import HMAC_KEY_BYTES_MIN, BadKeyError
from turnwire.config.settings import (
    ALIASES,
    LAB_PREFIX,
    PLACEHOLDER,
    PREFIX,
    SECRETS,
    Settings,
    keys,
    listed,
    origins,
    signing_keys,
    trusted_proxies,
    variable,
)
from turnwire.config.tls import BadCertificateError, agent_tls
from turnwire.config.urls import is_loopback, is_origin, url_problem
from turnwire.dialects import DIALECTS
from turnwire.errors import SettingsError
from turnwire.relay.agent.port import Scheme
from turnwire.relay.agent.transports import TRANSPORTS

_MIME_PATTERN: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:\*|[a-z0-9!#$&^_.+-]+)")
_NEAR: Final = 0.8
"""How similar an unknown name must be to a variable to be taken for a misspelling: a letter more,
a letter less, or two letters swapped."""
_HOST: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*")


def from_environ(environ: Mapping[str, str]) -> Settings:
    """Return the settings.

    Raises:
        SettingsError: an unknown variable, an invalid value, or values that
            contradict each other; one line for each.

    """
    values: dict[str, Any] = {}
    invalid: set[str] = set()
    problems: list[str] = []
    for name, value in environ.items():
        if name in ALIASES:
            values.setdefault(ALIASES[name], value)
        elif name.startswith(PREFIX) and not name.startswith(LAB_PREFIX):
            _read_variable(name, environ, values, invalid, problems)
    settings = _convert(values, invalid, problems)
    problems += _contradictions(settings, invalid)
    if problems:
        raise SettingsError(problems)
    return settings


def _read_variable(
    name: str,
    environ: Mapping[str, str],
    values: dict[str, Any],
    invalid: set[str],
    problems: list[str],
) -> None:
    """Put the value of one variable into `values`, or describe the problem in `problems`.

    `invalid` collects the fields whose value is invalid.
    """
    value = environ[name]
    if not _is_text(value):
        problems.append(f"{name}: must be UTF-8")
        invalid.add(name.removeprefix(PREFIX).lower().removesuffix("_file"))
        return
    field = name.removeprefix(PREFIX).lower()
    file_field = field.removesuffix("_file")
    if field in Settings.__struct_fields__:
        if value or f"{name}_FILE" not in environ:  # an empty variable counts as unset
            values[field] = value
    elif file_field != field and file_field in SECRETS:
        if environ.get(variable(file_field)):
            problems.append(f"{name}: {variable(file_field)} is set too")
            return
        try:
            values[file_field] = read_secret(value)
        except UnreadableError as exc:
            problems.append(f"{name}: {exc}")
            invalid.add(file_field)
        else:
            if not values[file_field]:  # a lost key must not switch off its feature
                problems.append(f"{name}: there is nothing in the file")
                invalid.add(file_field)
    else:
        problems.append(f"{name}: no such setting{_suggestion(name)}")


def _is_text(value: str) -> bool:
    """Whether a variable was valid UTF-8. `os.environ` holds other bytes as lone surrogates."""
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _suggestion(name: str) -> str:
    """The variable with the most similar name, as a question; `""` if no name is similar."""
    names = (*Settings.__struct_fields__, *(f"{field}_file" for field in SECRETS))
    similar = get_close_matches(name.removeprefix(PREFIX).lower(), names, n=1, cutoff=_NEAR)
    return f"; did you mean {variable(similar[0])}?" if similar else ""


def _convert(values: dict[str, Any], invalid: set[str], problems: list[str]) -> Settings:
    """Check each value on its own. A field with an invalid value keeps its default."""
    hints = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    valid: dict[str, Any] = {}
    for field, value in values.items():
        kind = inspect.type_info(hints[field])
        try:
            valid[field] = _converted(value, hints[field], kind)
        except (msgspec.ValidationError, UnicodeEncodeError):
            problems.append(f"{variable(field)}: {_expected(kind)}")
            invalid.add(field)
    return Settings(**valid)


def _converted(value: Any, hint: Any, kind: inspect.Type) -> Any:
    """The value of a field. A field with a table has one of its keys."""
    converted = msgspec.convert(value, hint, strict=False)
    match kind:
        case inspect.Metadata(extra={"table": table}) if converted not in table:
            raise msgspec.ValidationError
        case _:
            return converted


def _expected(kind: inspect.Type) -> str:
    """What a value of this type must be, for a message."""
    match kind:
        case inspect.Metadata(extra={"table": table}):
            return f"must be one of {', '.join(table)}"
        case inspect.Metadata(type=inner):
            return _expected(inner)
        case inspect.UnionType(types=types):  # of one type and None; None means unset
            return next(_expected(each) for each in types if each != inspect.NoneType())
        case inspect.LiteralType(values=values):
            return f"must be one of {', '.join(map(str, values))}"
        case inspect.BoolType():
            return "must be true or false"
        case inspect.IntType():
            return f"must be a whole number{_bounds(kind)}"
        case inspect.FloatType():
            return f"must be a number{_bounds(kind)}"
        case _:
            return "must not be empty"


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    match kind.gt, kind.ge, kind.le:
        case None, low, None:
            return f", {low} or more"
        case None, low, high:
            return f" from {low} to {high}"
        case above, _, None:
            return f" above {above}"
        case above, _, high:
            return f" above {above}, at most {high}"


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


def _contradictions(settings: Settings, invalid: AbstractSet[str]) -> list[str]:
    """Conflicts between settings, leaving out fields that are already invalid."""
    readable = cast("Settings", _Partial(settings, invalid)) if invalid else settings
    problems: list[str] = []
    for check in _CHECKS:
        with suppress(_InvalidFieldError):
            problems += check(readable)
    return problems


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


def _proxy_problems(settings: Settings) -> list[str]:
    if len(trusted_proxies(settings)) < len(listed(settings.trusted_proxies)):
        return ["TURNWIRE_TRUSTED_PROXIES: must be addresses, or networks like 10.0.0.0/8"]
    return []


def _agent_url_problems(settings: Settings) -> list[str]:
    if not settings.agent_url:
        return ["TURNWIRE_AGENT_URL: required"] if settings.enabled else []
    return _url_problems(settings, "agent_url", _agent_scheme(settings).name)


def _agent_scheme(settings: Settings) -> Scheme:
    """The scheme of the transport that carries the dialect."""
    try:
        dialect = settings.dialect
    except _InvalidFieldError:  # the rest of the URL can be checked all the same
        dialect = _DEFAULTS["dialect"]
    return TRANSPORTS[DIALECTS[dialect].transport].scheme


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


def _url_problems(settings: Settings, field: str, scheme: str) -> list[str]:
    """Problems of the URL in `field`, which must contain `{session_id}`.

    `scheme` is its scheme without TLS.
    """
    plain: str | None = "a token would travel"
    try:
        if settings.insecure or (field == "agent_url" and settings.agent_auth == "none"):
            plain = None
    except _InvalidFieldError:  # plain connections may be allowed
        plain = None
    problem = url_problem(
        getattr(settings, field),
        scheme,
        plain=plain,
        waiver="TURNWIRE_INSECURE=true",
        placeholder=PLACEHOLDER,
    )
    return [] if problem is None else [f"{variable(field)}: {problem}"]


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


_DEFAULTS: Final = msgspec.structs.asdict(Settings())

_Needed: TypeAlias = str | Callable[[Settings], str]

_REQUIREMENTS: Final[Sequence[tuple[Sequence[str], _Needed, Callable[[Settings], object]]]] = (
    (("rates_url",), "TURNWIRE_TURNS_PER_MINUTE", lambda s: s.turns_per_minute),
    (("agent_token",), "TURNWIRE_AGENT_AUTH=service", lambda s: s.agent_auth == "service"),
    (("agent_cert_key_file",), "TURNWIRE_AGENT_CERT_FILE", lambda s: s.agent_cert_file),
    (
        ("agent_ca_file", "agent_cert_file"),
        lambda s: f"a {_agent_scheme(s).with_tls}: URL in TURNWIRE_AGENT_URL",
        lambda s: not s.agent_url.lower().startswith(f"{_agent_scheme(s).name}:"),
    ),
    (("access_url", "access_cache_s"), "TURNWIRE_ACCESS=http", lambda s: s.access == "http"),
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
    _access_url_problems,
    _agent_token_problems,
    _missing_key_problems,
    _tls_problems,
    _idle_problems,
    _path_problems,
)
