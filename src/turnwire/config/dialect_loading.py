"""Find the dialect that `TURNWIRE_DIALECT` names: one of ours, or one that others wrote.

A name is looked up in this order: in our own table, among the entry points of the group
`turnwire.dialects`, as `package.module:Name`. Others' code is imported and checked once, before the
gateway starts; whatever is wrong with it is one `BadDialectError`.

Others' code gets its requests through `core.agent.Dialect`, and no settings with it: neither a
token nor the operator's headers.
"""

import functools
import importlib
import re
import traceback
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, Final

from turnwire.config.dialect_members import problem_of
from turnwire.core.agent import Dialect
from turnwire.dialect import SURFACE
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS

GROUP: Final = "turnwire.dialects"
"""The group of entry points that name dialects."""

_OBJECT: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
"""Names stand in logs, metrics and recordings."""

_OF_CODE: Final = (ImportError, SyntaxError, NameError, AttributeError)
"""Errors whose texts are about code. The text of any other one may hold what the code read."""
_TEXT_MAX: Final = 300


class BadDialectError(ValueError):
    """There is no such dialect, or it is none. The text is one line."""


def find(name: str) -> Dialect:
    """Return the dialect that a setting or an argument names.

    Raises:
        BadDialectError: there is none, or others' code is not what the gateway can run.

    """
    return DIALECTS.get(name) or _others(name)


def load(name: str) -> Dialect:
    """Return the dialect as `find` does, if it is the only one of its name.

    Raises:
        BadDialectError: as `find`, or an installed package has another dialect of this name.

    """
    if name in DIALECTS and name in _installed():
        package = _packages(_installed()[name])
        raise BadDialectError(
            f"{name} is a wire of the gateway, and {package} has one of that name"
        )
    return find(name)


def find_installed(name: str) -> Dialect:
    """Return the dialect of a name that no operator wrote, such as one in a recording.

    It is one of ours or an entry point: a file must not choose which module is imported.

    Raises:
        BadDialectError: there is none.

    """
    if name in DIALECTS or name in _installed():
        return find(name)
    raise BadDialectError(f"no dialect {name!r} is installed")


@functools.cache
def _installed() -> Mapping[str, Sequence[EntryPoint]]:
    """The entry points of installed packages, by name. The first call reads many small files."""
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, []).append(point)
    return MappingProxyType(found)


@functools.cache  # a dialect may have state of its process
def _others(name: str) -> Dialect:
    points = _installed().get(name)
    if points is None:
        return _dialect(name)
    if len(points) > 1:
        raise BadDialectError(f"{_packages(points)} each have a dialect {name!r}")
    dialect = _dialect(points[0].value)
    if dialect.name != name:
        place = points[0].value
        raise BadDialectError(f"{place} has the name {dialect.name!r}, its entry point {name!r}")
    return dialect


def _packages(points: Sequence[EntryPoint]) -> str:
    return ", ".join(sorted(point.dist.name if point.dist else point.value for point in points))


def _dialect(place: str) -> Dialect:
    """Import `package.module:Name`, and check it."""
    matched = _OBJECT.fullmatch(place)
    if matched is None:
        names = (*DIALECTS, *_installed())
        similar = get_close_matches(place.lower(), names, n=1)
        suggestion = f"; did you mean {similar[0]}?" if similar else ""
        raise BadDialectError(
            f"must be one of {', '.join(names)}, or package.module:Name of another dialect"
            f"{suggestion}"
        )
    found = _attribute(place, *matched.groups())
    try:
        surface = getattr(found, "surface", SURFACE)
    except (Exception, SystemExit) as exc:  # a property of others' code
        raise BadDialectError(f"{place} is no dialect: {failure(exc)}") from exc
    if surface != SURFACE:
        raise BadDialectError(
            f"{place} is written for turnwire.dialect {surface!r}, and this is {SURFACE!r}"
        )
    dialect: Dialect = _made(place, found)
    try:
        problem = problem_of(dialect)
    except Exception as exc:  # a property of others' code
        raise BadDialectError(f"{place} is no dialect: {failure(exc)}") from exc
    if problem:
        raise BadDialectError(f"{place} is no dialect: {problem}")
    if _NAME.fullmatch(dialect.name) is None:
        raise BadDialectError(f"{place}: `name` must have a-z, 0-9 and - alone, 64 of them at most")
    if dialect.name in DIALECTS:
        raise BadDialectError(f"{place}: {dialect.name!r} is the name of a wire of the gateway")
    if dialect.transport not in TRANSPORTS:
        known = ", ".join(TRANSPORTS)
        raise BadDialectError(f"{place}: `transport` must be one of {known}")
    return dialect


def _attribute(place: str, module: str, path: str) -> Any:
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as exc:
        if exc.name is not None and f"{module}.".startswith(f"{exc.name}."):
            raise BadDialectError(
                f"{place}: no module {exc.name}: is it installed, or on PYTHONPATH?"
            ) from None
        raise BadDialectError(f"{place} cannot be imported: {failure(exc)}") from exc
    except (Exception, SystemExit) as exc:
        raise BadDialectError(f"{place} cannot be imported: {failure(exc)}") from exc
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            raise BadDialectError(f"{place}: the module has no {path}") from None
        except (Exception, SystemExit) as exc:  # a module may have a `__getattr__`
            raise BadDialectError(f"{place} cannot be imported: {failure(exc)}") from exc
    return found


def _made(place: str, found: Any) -> Any:
    if not isinstance(found, type):
        return found
    try:
        return found()
    except (Exception, SystemExit) as exc:
        raise BadDialectError(
            f"{place}: a dialect is an instance, or a class without arguments: {failure(exc)}"
        ) from exc


def failure(exc: BaseException) -> str:
    """What happened in others' code, and where, in one line without values."""
    *_, last = traceback.extract_tb(exc.__traceback__)
    where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
    kind = type(exc).__name__
    if not isinstance(exc, _OF_CODE):
        return f"{kind} at {where}"
    return f"{kind} at {where}: {' '.join(str(exc).split())[:_TEXT_MAX]}"
