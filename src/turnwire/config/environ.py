"""Read the settings from `TURNWIRE_*` variables, and check them.

`from_environ(os.environ)` returns `Settings`, or raises `SettingsError` with all problems. This
module checks each value by itself, `conflicts` the values together.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

import msgspec
from msgspec import inspect

from turnwire.config.conflicts import conflicts
from turnwire.config.dialect_loading import BadDialectError
from turnwire.config.files import UnreadableError, read_secret
from turnwire.config.settings import ALIASES, LAB_PREFIX, PREFIX, SECRETS, Settings, variable
from turnwire.errors import SettingsError

_NEAR: Final = 0.8
"""How similar an unknown name must be to a variable to be taken for a misspelling: a letter more,
a letter less, or two letters swapped."""

_NAMES: Final = (*Settings.__struct_fields__, *(f"{field}_file" for field in SECRETS))
_VARIABLES: Final = frozenset((*map(variable, _NAMES), *ALIASES))


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
        if problem := name_problem(name):
            problems.append(problem)
        elif name in ALIASES:
            values.setdefault(ALIASES[name], value)
        elif name.startswith(PREFIX) and not name.startswith(LAB_PREFIX):
            _read_variable(name, environ, values, invalid, problems)
    settings = _convert(values, invalid, problems)
    problems += conflicts(settings, invalid)
    if problems:
        raise SettingsError(problems)
    return settings


def name_problem(name: str) -> str | None:
    """Return what is wrong with the name of a variable, which is in it; None: nothing is.

    A variable that is not ours has a good name, unless it is one of ours in lower case.
    """
    if not name.startswith(PREFIX):
        is_misspelt = name not in ALIASES and name.upper() in _VARIABLES
        return f"{name}: no such setting; did you mean {name.upper()}?" if is_misspelt else None
    field = name.removeprefix(PREFIX).lower()
    if name.startswith(LAB_PREFIX) or field in _NAMES:
        return None
    return f"{name}: no such setting{_suggestion(name)}"


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
    else:  # the file of a secret
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


def _is_text(value: str) -> bool:
    """Whether a variable was valid UTF-8. `os.environ` holds other bytes as lone surrogates."""
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _suggestion(name: str) -> str:
    """The variable with the most similar name, as a question; `""` if no name is similar."""
    given = name.removeprefix(PREFIX).lower()
    similar = get_close_matches(given, _NAMES, n=1, cutoff=_NEAR)
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
        except BadDialectError as exc:
            problems.append(f"{variable(field)}: {exc}")
            invalid.add(field)
    return Settings(**valid)


def _converted(value: Any, hint: Any, kind: inspect.Type) -> Any:
    """The value of a field. A field with a table has one of its keys, or what its `load` takes."""
    converted = msgspec.convert(value, hint, strict=False)
    match kind:
        case inspect.Metadata(extra={"load": load}):
            load(converted)
            return converted
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
