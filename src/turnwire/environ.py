"""The settings, read from `TURNWIRE_*` variables, and what is wrong with them."""

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec

from turnwire.errors import SettingsError
from turnwire.keys import HMAC_KEY_BYTES_MIN, BadKeyError
from turnwire.settings import (
    ALIASES,
    LAB_PREFIX,
    PLACEHOLDER,
    PREFIX,
    SECRETS,
    Settings,
    agent_tls,
    keys,
    listed,
    origins,
    signing_keys,
    trusted_proxies,
    variable,
)
from turnwire.tls import BadCertificateError
from turnwire.urls import is_loopback, is_origin, url_problem

_MIME_PATTERN: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:\*|[a-z0-9!#$&^_.+-]+)")
_HOST: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*")


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
    if settings.auth == "opaque" and settings.access != "http":
        problems.append("TURNWIRE_AUTH: `opaque` needs TURNWIRE_ACCESS=http")
    if settings.tracing == "otlp" and not _is_installed("opentelemetry.exporter.otlp.proto.http"):
        problems.append("TURNWIRE_TRACING: `otlp` needs pip install 'turnwire[otel]'")
    problems += _attachment_problems(settings)
    problems += _signing_problems(settings)
    problems += _cors_problems(settings)
    if len(trusted_proxies(settings)) < len(listed(settings.trusted_proxies)):
        problems.append("TURNWIRE_TRUSTED_PROXIES: must be addresses, or networks like 10.0.0.0/8")
    problems += _token_problems(settings)
    if not settings.enabled:
        return problems
    if settings.agent_url:
        problems += _url_problems(settings, "agent_url", "ws")
    else:
        problems.append("TURNWIRE_AGENT_URL: required")
    if settings.access == "http" and settings.access_url:
        problems += _url_problems(settings, "access_url", "http")
    elif settings.access == "http":
        problems.append("TURNWIRE_ACCESS_URL: required by TURNWIRE_ACCESS=http")
    if settings.agent_auth == "service" and not settings.agent_token:
        problems.append("TURNWIRE_AGENT_TOKEN: required by TURNWIRE_AGENT_AUTH=service")
    if not re.fullmatch(r"[\x21-\x7e]*", settings.agent_token):
        problems.append("TURNWIRE_AGENT_TOKEN: must be one word of visible ASCII")
    if settings.auth == "jwt" and not settings.jwt_key and not settings.jwt_jwks_url:
        problems.append("TURNWIRE_JWT_KEY: required (or TURNWIRE_JWT_JWKS_URL)")
    try:
        agent_tls(settings)
    except BadCertificateError as exc:
        problems.append(f"{variable(exc.field)}: {exc}")
    return problems


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


def _signing_problems(settings: Settings) -> list[str]:
    problems = []
    if any(len(key) < HMAC_KEY_BYTES_MIN for key in signing_keys(settings)):
        problems.append(f"TURNWIRE_SIGNING_KEYS: a key has fewer than {HMAC_KEY_BYTES_MIN} bytes")
    of_tokens = {key.strip().encode() for key in settings.jwt_key.split(",")}
    if not of_tokens.isdisjoint(signing_keys(settings)):
        problems.append("TURNWIRE_SIGNING_KEYS: a key is in TURNWIRE_JWT_KEY too")
    return problems


def _cors_problems(settings: Settings) -> list[str]:
    given = origins(settings)
    if given == ("*",) or all(map(is_origin, given)):
        return []
    return ["TURNWIRE_CORS_ORIGINS: must be * alone, or origins as browsers spell them"]


def _token_problems(settings: Settings) -> list[str]:
    if settings.auth == "opaque":
        if settings.token_expiry == "cut":  # noqa: S105 (no password)
            return ["TURNWIRE_TOKEN_EXPIRY: nobody here knows when an `opaque` token expires"]
        return []
    problems = []
    if settings.jwt_jwks_url:
        problems += _url_problems(settings, "jwt_jwks_url", "http")
        if settings.jwt_key:
            problems.append("TURNWIRE_JWT_JWKS_URL: TURNWIRE_JWT_KEY is set too")
        if settings.jwt_algorithm == "HS256":
            problems.append("TURNWIRE_JWT_JWKS_URL: no key set may hold keys of HS256")
    elif settings.jwt_key:
        try:
            keys(settings)
        except BadKeyError as exc:
            problems.append(f"TURNWIRE_JWT_KEY: {exc}")
    return problems


def _url_problems(settings: Settings, field: str, scheme: str) -> list[str]:
    """What is wrong with a URL that is dialled by `scheme`, or by it with an `s` for TLS."""
    is_template = field != "jwt_jwks_url"
    plain: str | None = "a token would travel" if is_template else "keys could be forged"
    if settings.insecure or (scheme == "ws" and settings.agent_auth == "none"):
        plain = None
    problem = url_problem(
        getattr(settings, field),
        scheme,
        plain=plain,
        placeholder=PLACEHOLDER if is_template else None,
    )
    return [] if problem is None else [f"{variable(field)}: {problem}"]
