"""What an agent is: one object in Python, or one file in TOML. Each field is a flag, too."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args

from msgspec import Struct

from turnwire_agent.host.settings import HostSettings
from turnwire_agent.llm.model import ShapeName
from turnwire_agent.loop.limits import Limits
from turnwire_agent.setting_errors import BadValueError, struct_of

FILE_MAX: Final = 1024 * 1024
"""Most bytes of a file of settings."""
LEEWAY_MAX_S: Final = 300.0

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_JOURNAL: Final = re.compile(r"memory|sqlite:.+|postgres(ql)?://.+", re.DOTALL)


class SettingsError(ValueError):
    """Settings that cannot be. The text is one line, for the operator."""


class McpServer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An MCP server whose tools the model may call."""

    command: str | None = None
    """A program on this machine that is the server."""
    arguments: tuple[str, ...] = ()
    """What the program is started with."""
    inherited: tuple[str, ...] = ()
    """Names of variables of the environment that the program gets. It gets no others."""
    url: str | None = None
    """Instead of `command`: a server that is reached by HTTP."""
    key_file: str | None = None
    """Has the bearer token for `url`."""
    trusted: bool = False
    """Whether what it says about its tools counts: that one only reads, or may be repeated."""
    only: tuple[str, ...] | None = None
    """Names at the server of the tools that the model may call. Not given: all."""
    approval: Literal["never", "always"] = "never"
    """Whether a person must allow a call of its tools: `never` or `always`."""

    def __post_init__(self) -> None:
        """Refuse what names no server.

        Raises:
            SettingsError: it names two, or none.

        """
        if (self.command is None) == (self.url is None):
            raise SettingsError("an MCP server has a command, or a url")
        if self.command is not None and self.key_file is not None:
            raise SettingsError("a key_file is for the url of an MCP server")


class Api(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An API whose operations the model may call, by its OpenAPI document."""

    document: str
    """A file of JSON: OpenAPI 3.0 or 3.1."""
    address: str
    """Where the API is. If the document decided that, it would decide who gets the key."""
    key_file: str | None = None
    """Has the key that goes with each request."""
    key_variable: str | None = None
    """The variable of the environment that has this key."""
    key_header: str | None = None
    """The header that the key goes into. Not given: `Authorization: Bearer …`."""
    only: tuple[str, ...] | None = None
    """Operations that are tools. Not given: all that can be."""
    keyed: tuple[str, ...] = ()
    """Operations that take an `Idempotency-Key`, and do nothing when a key comes again."""
    approval: Literal["never", "always"] = "never"
    """Whether a person must allow a call of an operation that changes something."""

    def __post_init__(self) -> None:
        """Refuse two keys.

        Raises:
            SettingsError: there are two.

        """
        if self.key_file is not None and self.key_variable is not None:
            raise SettingsError("the key of an API is in key_file, or in key_variable")


class Agent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent: what gives its answers, where it keeps its sessions, and who may speak to it.

    Raises:
        SettingsError: a field does not fit. In a file it is read as a ValidationError.

    """

    model: str = ""
    """`PROVIDER:MODEL`, as `anthropic:claude-sonnet-4-5`."""
    instructions: str = ""
    """What the model is told before each conversation."""
    tools: tuple[Any, ...] = ()
    """What the model may call, as `MODULE:NAME` of a function, an operation, or a list of them. In
    Python also these themselves."""
    mcp: Mapping[str, McpServer] = {}
    """MCP servers by name."""
    openapi: Mapping[str, Api] = {}
    """APIs by name."""
    base_url: str | None = None
    """Another server than the provider's. It gets no key but the one that you name."""
    shape: ShapeName | None = None
    """The wire to speak: `chat`, `messages`, `responses`, `google`. Empty: the provider's."""
    key_file: str | None = None
    """A file with the key of the provider. Empty: the usual variable of the provider has it."""
    key_variable: str | None = None
    """The variable of the environment that has the key of the provider."""
    trust_env: bool = False
    """Use the proxies and certificates that the environment names."""
    window: int | None = None
    """How many tokens the model takes. Empty: only the provider knows."""
    journal: str = "sqlite:turnwire-agent.db"
    """`memory`, `sqlite:PATH`, or `postgresql://…`; for one with a password see `journal_file`."""
    journal_file: str | None = None
    """A file whose one line is the address of the journal, for an address with a password."""
    listen: str = "127.0.0.1:8765"
    """`HOST:PORT`. Port 0: any free one. An address that is not loopback needs a token."""
    metrics: str | None = None
    """`HOST:PORT` of a server for Prometheus; everybody who reaches it may read it."""
    token_file: str | None = None
    """A file with the bearer token that gateways send."""
    token_jwks: str | None = None
    """URL or file of the keys that sign the tokens that gateways forward."""
    token_issuer: str | None = None
    """The `iss` that a forwarded token must have; empty: any."""
    token_audience: str | None = None
    """The `aud` that a forwarded token must have; empty: any."""
    token_leeway_s: float = 10.0
    """How many seconds the issuer's clock may be from ours, 300 at most."""
    limits: Limits = Limits()
    """How far a turn may go."""
    host: HostSettings = HostSettings()
    """How the server behaves, and its bounds."""
    driver: Any = None
    """In Python alone: a `turnwire_agent.Driver` that gives the answers instead of a model."""
    answers: Any = None
    """In Python alone: what gives the loop its answers instead of a model, as
    `PydanticAiAnswers(agent)`. The loop runs the tools of these settings, and keeps to limits."""
    compaction: Any = None
    """In Python alone: an async function that returns a shorter transcript in place of one that is
    too long for the model, or None."""

    def __post_init__(self) -> None:
        """Refuse what no server can be started with."""
        tools: object = self.tools
        if isinstance(tools, str) or not isinstance(tools, Iterable):
            raise SettingsError("tools: a list of tools")
        if self.shape is not None and self.shape not in get_args(ShapeName):
            raise SettingsError(f"shape: one of {', '.join(get_args(ShapeName))}")
        if self.window is not None and self.window < 1:
            raise SettingsError("window: at least 1")
        if not _JOURNAL.fullmatch(self.journal):
            raise SettingsError("journal: memory, sqlite:PATH or postgresql://HOST/DATABASE")
        if (self.answers is not None) + (self.driver is not None) + bool(self.model) > 1:
            raise SettingsError("one of model, answers and driver")
        if self.key_file is not None and self.key_variable is not None:
            raise SettingsError("the key of the provider is in key_file, or in key_variable")
        if self.token_file is not None and self.token_jwks is not None:
            raise SettingsError("tokens are checked by token_file, or by token_jwks")
        if not 0 <= self.token_leeway_s <= LEEWAY_MAX_S:
            raise SettingsError(f"token_leeway_s: 0 to {LEEWAY_MAX_S:g}")
        for name in (*self.mcp, *self.openapi):
            if not _NAME.fullmatch(name):
                raise SettingsError(_no_name(name))
        for name in self.host.__struct_fields__:
            value = getattr(self.host, name)
            if not isinstance(value, bool) and not value > 0:
                raise SettingsError(f"host.{name}: more than 0")


PYTHON_ONLY: Final = frozenset({"answers", "driver", "compaction"})
GROUPS: Final = frozenset({"limits", "host"})
"""Fields with fields of their own."""
OF_A_MODEL: Final = frozenset(
    {"model", "base_url", "shape", "key_file", "key_variable", "trust_env"}
)
"""Fields that say which model it is, and how it is reached."""
NAMED: Final = frozenset({"mcp", "openapi"})
"""Fields with groups of the operator's own names."""


def from_file(path: Path) -> Agent:
    """Read the settings of a TOML file.

    Raises:
        SettingsError: it is not there, is no TOML, or has a field that is none.

    """
    try:
        if path.stat().st_size > FILE_MAX:
            raise SettingsError(f"{path} is longer than {FILE_MAX} bytes")
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None
    if python := sorted(PYTHON_ONLY & values.keys()):
        raise SettingsError(f"{path}: {python[0]} can be given in Python alone")
    return from_values(values, str(path))


def from_values(values: Mapping[str, Any], where: str) -> Agent:
    """Make settings of plain values; `where` says in an error where they are from.

    Raises:
        SettingsError: one does not fit.

    """
    try:
        _check_groups(values)
        agent = struct_of(Agent, values)
    except BadValueError as error:
        raise SettingsError(f"{where}: {error}") from None
    if not all(isinstance(each, str) for each in agent.tools):
        raise SettingsError(f"{where}: tools: a tool is MODULE:NAME")
    return agent


def _check_groups(values: Mapping[str, Any]) -> None:
    """Look at each group by itself: an error of the whole does not say in which of them it is.

    Raises:
        BadValueError: a value in one of them does not fit.

    """
    for name, group in (("limits", Limits), ("host", HostSettings)):
        if name in values:
            struct_of(group, values[name], name)
    for name, kind in (("mcp", McpServer), ("openapi", Api)):
        named = values.get(name)
        if isinstance(named, Mapping):
            for own, inner in named.items():
                if not _NAME.fullmatch(own):
                    raise BadValueError(_no_name(own))
                struct_of(kind, inner, f"{name}.{own}")


def _no_name(name: str) -> str:
    return f"{name[:60]!a}: a name has 1 to 32 letters, digits, _ and -"
