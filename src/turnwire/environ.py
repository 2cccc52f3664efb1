"""The settings, read from `TURNWIRE_*` variables, and what is wrong with them."""

import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, Final, cast

import msgspec
from msgspec import inspect

from turnwire.errors import SettingsError
from turnwire.files import UnreadableError, directory_problem, file_problem, secret
from turnwire.hang_ups import POLICIES, policies
from turnwire.keys import HMAC_KEY_BYTES_MIN, BadKeyError
from turnwire.settings import (
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
from turnwire.tls import BadCertificateError, agent_tls
from turnwire.urls import is_loopback, is_origin, url_problem

_MIME_PATTERN: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:\*|[a-z0-9!#$&^_.+-]+)")
_NEAR: Final = 0.8
"""How like two names are of which one is meant by the other: a letter more, less, or swapped."""
_HOST: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*")


def from_environ(environ: Mapping[str, str]) -> Settings:
    """Read the settings.

    Raises:
        SettingsError: an unknown variable, a wrong value, or values that do
            not go together; one line for each.

    """
    values: dict[str, Any] = {}
    wrong: set[str] = set()
    problems: list[str] = []
    for name, value in environ.items():
        if name in ALIASES:
            values.setdefault(ALIASES[name], value)
        elif name.startswith(PREFIX) and not name.startswith(LAB_PREFIX):
            _take(name, environ, values, wrong, problems)
    settings = _convert(values, wrong, problems)
    problems += _contradictions(settings, wrong)
    if problems:
        raise SettingsError(problems)
    return settings


def _take(
    name: str,
    environ: Mapping[str, str],
    values: dict[str, Any],
    wrong: set[str],
    problems: list[str],
) -> None:
    value = environ[name]
    if not _is_text(value):
        problems.append(f"{name}: must be UTF-8")
        wrong.add(name.removeprefix(PREFIX).lower().removesuffix("_file"))
        return
    field = name.removeprefix(PREFIX).lower()
    of_file = field.removesuffix("_file")
    if field in Settings.__struct_fields__:
        if value or f"{name}_FILE" not in environ:  # an empty one is as good as none
            values[field] = value
    elif of_file != field and of_file in SECRETS:
        if environ.get(variable(of_file)):
            problems.append(f"{name}: {variable(of_file)} is set too")
            return
        try:
            values[of_file] = secret(value)
        except UnreadableError as exc:
            problems.append(f"{name}: {exc}")
            wrong.add(of_file)
        else:
            if not values[of_file]:  # else a key that is lost would switch off what it is for
                problems.append(f"{name}: there is nothing in the file")
                wrong.add(of_file)
    else:
        problems.append(f"{name}: no such setting{_meant(name)}")


def _is_text(value: str) -> bool:
    """Whether it was UTF-8 in the environment: what was none of it stands there as half letters."""
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def _meant(name: str) -> str:
    """The variable whose name is nearest, where one is near."""
    known = (*Settings.__struct_fields__, *(f"{field}_file" for field in SECRETS))
    near = get_close_matches(name.removeprefix(PREFIX).lower(), known, n=1, cutoff=_NEAR)
    return f"; did you mean {variable(near[0])}?" if near else ""


def _convert(values: dict[str, Any], wrong: set[str], problems: list[str]) -> Settings:
    """Check each value by itself. Fields of which one is wrong keep their defaults."""
    hints = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    good: dict[str, Any] = {}
    for field, value in values.items():
        try:
            good[field] = msgspec.convert(value, hints[field], strict=False)
        except (msgspec.ValidationError, UnicodeEncodeError):
            expected = _expected(inspect.type_info(hints[field]))
            problems.append(f"{variable(field)}: {expected}")
            wrong.add(field)
    return Settings(**good)


def _expected(kind: inspect.Type) -> str:
    """What a value must be."""
    match kind:
        case inspect.Metadata(type=inner):
            return _expected(inner)
        case inspect.UnionType(types=types):  # of one and None, which is: unset
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
        case None, least, None:
            return f", {least} or more"
        case None, least, most:
            return f" from {least} to {most}"
        case above, _, None:
            return f" above {above}"
        case above, _, most:
            return f" above {above}, at most {most}"


class _WrongFieldError(Exception):
    """A field was read whose value is not known, as it was wrong."""


class _Partial:
    """Settings of which some are not known. What needs one of those cannot be judged."""

    def __init__(self, settings: Settings, wrong: AbstractSet[str]) -> None:
        self._settings = settings
        self._wrong = wrong

    def __getattr__(self, field: str) -> object:
        if field in self._wrong:
            raise _WrongFieldError
        return getattr(self._settings, field)


def _contradictions(settings: Settings, wrong: AbstractSet[str]) -> list[str]:
    """What does not go together, as far as it can be told beside what is wrong by itself."""
    known = cast("Settings", _Partial(settings, wrong)) if wrong else settings
    problems: list[str] = []
    for check in _CHECKS:
        with suppress(_WrongFieldError):
            problems += check(known)
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
    return _url_problems(settings, "agent_url", "ws")


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


def _place_problems(settings: Settings) -> list[str]:
    """What is written later must be writable now, or what was to be kept is lost."""
    told = {
        "drift_samples": file_problem(settings.drift_samples) if settings.drift_samples else None,
        "record_dir": directory_problem(settings.record_dir) if settings.record_dir else None,
    }
    return [f"{variable(field)}: {problem}" for field, problem in told.items() if problem]


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # nor is what it is in
        return False


def _attachment_problems(settings: Settings) -> list[str]:
    problems = []
    if not all(_MIME_PATTERN.fullmatch(given) for given in listed(settings.attachment_types)):
        problems.append("TURNWIRE_ATTACHMENT_TYPES: must be types like image/png or image/*")
    if not all(_HOST.fullmatch(given) for given in listed(settings.attachment_hosts)):
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
    of_tokens = {key.strip().encode() for key in settings.jwt_key.split(",")}
    if not of_tokens.isdisjoint(signing_keys(settings)):
        return ["TURNWIRE_SIGNING_KEYS: a key is in TURNWIRE_JWT_KEY too"]
    return []


def _cors_problems(settings: Settings) -> list[str]:
    given = origins(settings)
    if given == ("*",) or all(map(is_origin, given)):
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
    # No waiver: keys are no tokens, and whoever forges them is whoever they like.
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
    """What is wrong with a URL, with `{session_id}`, that is dialled by `scheme`, or with TLS."""
    plain: str | None = "a token would travel"
    try:
        if settings.insecure or (scheme == "ws" and settings.agent_auth == "none"):
            plain = None
    except _WrongFieldError:  # it may be meant to be so
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
    """Settings that would do nothing, and might be thought to do something."""
    if not settings.enabled:
        return []
    problems = []
    for fields, needed, is_there in _IN_VAIN:
        with suppress(_WrongFieldError):
            if not is_there(settings):
                problems += [
                    f"{variable(field)}: does nothing without {needed}"
                    for field in fields
                    if getattr(settings, field) != _DEFAULTS[field]
                ]
    return problems


_DEFAULTS: Final = msgspec.structs.asdict(Settings())

_IN_VAIN: Final[Sequence[tuple[Sequence[str], str, Callable[[Settings], object]]]] = (
    (("rates_url",), "TURNWIRE_TURNS_PER_MINUTE", lambda s: s.turns_per_minute),
    (("agent_token",), "TURNWIRE_AGENT_AUTH=service", lambda s: s.agent_auth == "service"),
    (("agent_cert_key_file",), "TURNWIRE_AGENT_CERT_FILE", lambda s: s.agent_cert_file),
    (
        ("agent_ca_file", "agent_cert_file"),
        "a wss: URL in TURNWIRE_AGENT_URL",
        lambda s: not s.agent_url.lower().startswith("ws:"),
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
"""What does nothing, without what, and whether that is there."""


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
    _place_problems,
)
