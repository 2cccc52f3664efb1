"""What an agent is: one object in Python, or one file in TOML. Each field is a flag, too."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from turnwire_agent.host.settings import HostSettings
from turnwire_agent.loop.limits import Limits

FILE_MAX: Final = 1024 * 1024
"""Most bytes of a file of settings."""


class SettingsError(ValueError):
    """Settings that cannot be. The text is one line, for the operator."""


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An MCP server whose tools the model may call."""

    command: str | None = None
    arguments: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    """Names of variables of the environment that the program gets."""
    url: str | None = None
    """Instead of `command`: a server that is reached by HTTP."""
    key_file: str | None = None
    """Has the bearer token for `url`."""
    trusted: bool = False
    """Whether its hints about its tools count."""
    approval: str = "never"
    """`never` or `always`."""


class Agent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent: what gives its answers, where it keeps its sessions, and who may speak to it."""

    model: str = ""
    """`PROVIDER:MODEL`, as `anthropic:claude-sonnet-4-5`."""
    instructions: str = ""
    tools: tuple[Any, ...] = ()
    """Tools, functions, or their names as `MODULE:FUNCTION`."""
    mcp: dict[str, McpServer] = {}
    base_url: str | None = None
    """Another server than the provider's. It is sent no key but one that is named."""
    shape: str | None = None
    """The wire to speak: `chat`, `messages`, `responses`, `google`. Default: the provider's."""
    key_file: str | None = None
    key_variable: str | None = None
    trust_env: bool = False
    """Use the proxies and certificates that the environment names."""
    window: int | None = None
    """How many tokens the model takes. None: only the provider knows."""
    journal: str = "sqlite:turnwire-agent.db"
    """`memory`, `sqlite:PATH`, or `postgres://…` (then `journal_file` may have it)."""
    journal_file: str | None = None
    """Has the address of the journal in its one line, since that may hold a password."""
    listen: str = "127.0.0.1:8765"
    metrics: str | None = None
    """`HOST:PORT` of a server for Prometheus; everybody who reaches it may read it."""
    token_file: str | None = None
    """Has the bearer token that gateways send."""
    token_jwks: str | None = None
    """URL or file of the keys that sign the tokens that gateways forward."""
    token_issuer: str | None = None
    token_audience: str | None = None
    token_leeway_s: float = 10.0
    limits: Limits = Limits()
    host: HostSettings = HostSettings()
    driver: Any = None
    """In Python alone: a `host.driver.Driver` that gives the answers instead of a model."""
    compaction: Any = None
    """In Python alone: an async function that makes a transcript shorter that is too long for the
    model, or returns None."""


PYTHON_ONLY: Final = frozenset({"driver", "compaction"})


def from_file(path: Path) -> Agent:
    """Read the settings of a TOML file.

    Raises:
        SettingsError: it is not there, is no TOML, or has a field that is none.

    """
    try:
        if path.stat().st_size > FILE_MAX:
            raise SettingsError(f"{path} is longer than {FILE_MAX} bytes")
        values = tomllib.loads(path.read_text())
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None
    if python := sorted(PYTHON_ONLY & values.keys()):
        raise SettingsError(f"{path}: {python[0]} can be given in Python alone")
    return from_values(values, str(path))


def from_values(values: dict[str, Any], where: str) -> Agent:
    """Make settings of plain values; `where` says in an error where they are from.

    Raises:
        SettingsError: one does not fit.

    """
    try:
        agent = msgspec.convert(values, Agent, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{where}: {error}") from None
    if not all(isinstance(each, str) for each in agent.tools):
        raise SettingsError(f"{where}: a tool is MODULE:FUNCTION - at `$.tools`")
    return agent


def fields_with_flags() -> Sequence[tuple[str, Any]]:
    """Return each field as a flag and its type, those of `limits` and `host` with a prefix."""
    found: list[tuple[str, Any]] = []
    for field in msgspec.structs.fields(Agent):
        if field.name in PYTHON_ONLY | {"mcp", "tools"}:
            continue
        if isinstance(field.type, type) and issubclass(field.type, Struct):
            found += [
                (f"{field.name}.{inner.name}", inner.type)
                for inner in msgspec.structs.fields(field.type)
            ]
        else:
            found.append((field.name, field.type))
    return found
