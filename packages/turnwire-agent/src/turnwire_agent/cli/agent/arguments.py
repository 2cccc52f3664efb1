"""Which agent a command line means: a file or a Python object, and a flag for each field."""

import argparse
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, structs

from turnwire_agent.cli.agent.field_texts import field_texts
from turnwire_agent.cli.arguments import UsageError, imported
from turnwire_agent.settings import (
    GROUPS,
    NAMED,
    PYTHON_ONLY,
    Agent,
    SettingsError,
    from_file,
    from_values,
)

_WHERE: Final = "the command line"


class Flag(Struct, frozen=True):
    """A field, as a command line has it."""

    field: str
    """As `journal`, or `limits.steps`."""
    text: str
    default: Any
    is_bool: bool = False

    @property
    def name(self) -> str:
        return f"--{self.field.replace('.', '-').replace('_', '-')}"


def flags() -> Iterator[Flag]:
    """Each field that has one value, those of `limits` and `host` with a prefix."""
    texts = field_texts(Agent)
    for field in structs.fields(Agent):
        if field.name in PYTHON_ONLY | NAMED | {"tools"}:
            continue
        if field.name not in GROUPS:
            is_bool = field.type is bool
            yield Flag(field.name, texts.get(field.name, ""), field.default, is_bool)
            continue
        group = field.type
        for inner in structs.fields(group):
            text = field_texts(group).get(inner.name, "")
            yield Flag(f"{field.name}.{inner.name}", text, inner.default, inner.type is bool)


def add_agent(parser: argparse.ArgumentParser) -> None:
    """Which agent, and where its journal is: for a command that looks at it."""
    _add_name(parser)
    for flag in flags():
        if flag.field in {"journal", "journal_file"}:
            _add_flag(parser, flag)


def add_settings(parser: argparse.ArgumentParser, *, without: frozenset[str] = frozenset()) -> None:
    """Which agent, and all of its fields but those that the command adds itself."""
    _add_name(parser)
    parser.add_argument(
        "--tool",
        action="append",
        default=[],
        metavar="MODULE:NAME",
        help="the model may call it: a function, an operation, a list; may be repeated",
    )
    for name in sorted(NAMED):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="NAME={…}",
            help=f"as in the file, but in one line: {_EXAMPLES[name]}; may be repeated",
        )
    for flag in flags():
        if flag.field not in without:
            _add_flag(parser, flag)


_EXAMPLES: Final = {
    "mcp": "'files={command=\"files-mcp\"}'",
    "openapi": '\'shop={document="shop.json", address="https://…"}\'',
}


def settings(arguments: argparse.Namespace) -> Agent:
    """The settings that a command line means. A flag counts more than the file, and the object.

    Raises:
        UsageError: There is no such agent, or something does not fit.
    """
    try:
        agent = _named(arguments.agent) if arguments.agent else Agent()
        return _changed(agent, vars(arguments))
    except SettingsError as error:
        raise UsageError(str(error)) from error


def _changed(agent: Agent, given: dict[str, Any]) -> Agent:
    values: dict[str, Any] = {}
    for flag in flags():
        if (value := given.get(flag.field)) is None:
            continue
        group, dot, inner = flag.field.partition(".")
        if dot:
            values.setdefault(group, {})[inner] = value
        else:
            values[flag.field] = value
    values |= {name: dict(map(_group, given.get(name) or ())) for name in sorted(NAMED)}
    # A place and a way that are given here stand for the other one of the file.
    changes: dict[str, Any] = {
        other: None
        for field, other in _EITHER_OR
        if values.get(field) is not None and values.get(other) is None
    }
    flagged = from_values(values, _WHERE)
    for name, value in values.items():
        new = getattr(flagged, name)
        if name in GROUPS:
            new = structs.replace(getattr(agent, name), **{key: getattr(new, key) for key in value})
        elif name in NAMED:
            new = {**getattr(agent, name), **new}
        changes[name] = new
    tools = (*agent.tools, *(given.get("tool") or ()))
    return structs.replace(agent, tools=tools, **changes)


_EITHER_OR: Final = (
    ("key_file", "key_variable"),
    ("key_variable", "key_file"),
    ("token_file", "token_jwks"),
    ("token_jwks", "token_file"),
    ("journal", "journal_file"),
)


def _group(text: str) -> tuple[str, dict[str, Any]]:
    name, equals, table = text.partition("=")
    if not equals:
        raise SettingsError(f"{text!r} is not NAME={{…}}")
    try:
        read = tomllib.loads(f"group = {table}")
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name}: {error}") from None
    return name.strip(), read["group"]


def _add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "agent",
        nargs="?",
        metavar="AGENT.TOML|MODULE:NAME",
        help="a file of settings, or an `Agent` in Python; without it the flags say all",
    )


def _add_flag(parser: argparse.ArgumentParser, flag: Flag) -> None:
    text = flag.text.replace("`", "").replace("%", "%%")
    if flag.default not in (None, "", False):
        text += f" (default: {_shown(flag.default)})"
    if flag.is_bool:
        action = argparse.BooleanOptionalAction
        parser.add_argument(flag.name, dest=flag.field, action=action, default=None, help=text)
    else:
        metavar = _METAVARS.get(flag.field, "VALUE")
        parser.add_argument(flag.name, dest=flag.field, metavar=metavar, help=text)


_METAVARS: Final = {
    "model": "PROVIDER:MODEL",
    "base_url": "URL",
    "shape": "NAME",
    "key_file": "FILE",
    "key_variable": "NAME",
    "journal": "ADDRESS",
    "journal_file": "FILE",
    "listen": "HOST:PORT",
    "metrics": "HOST:PORT",
    "token_file": "FILE",
    "token_jwks": "URL|FILE",
    "token_issuer": "NAME",
    "token_audience": "NAME",
    "token_leeway_s": "SECONDS",
}


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _named(name: str) -> Agent:
    if name.endswith(".toml"):
        return from_file(Path(name))
    if ":" not in name:
        raise UsageError(f"{name!r} is neither FILE.toml nor MODULE:NAME")
    found = imported(name)
    if not isinstance(found, Agent):
        raise UsageError(f"{name} is no turnwire_agent.Agent")
    return found
