"""Read a file of settings, with NAME=VALUE in each line, beside the environment of the process.

Rule: a message names the file, the line and the variable, and never a value.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from turnwire.config.environ import name_problem
from turnwire.config.files import UnreadableError, is_open_to_others, read_text
from turnwire.config.settings import ALIASES, PREFIX, SECRETS, Settings
from turnwire.errors import SettingsError

PROBLEMS_MAX: Final = 10
"""Most problems of one file that are printed. A file of something else has one in each line."""

_ASSIGNMENT: Final = re.compile(r"(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]{0,127})=(.*)")
_QUOTED: Final = {
    "'": re.compile(r"'([^']*)'"),
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"'),
}
_ESCAPED: Final = re.compile(r'\\(["\\])')


class Assignment(Struct, frozen=True):
    """One line of the file. `line` is its number, from 1."""

    name: str
    value: str
    line: int


class Environment(Struct, frozen=True):
    """What a command reads its settings from."""

    values: Mapping[str, str]
    """The environment of the process, and the settings of the file that it does not set."""
    others: Mapping[str, str] = {}
    """Variables of the file that are no settings, such as those of libraries (`OTEL_*`)."""
    places: Mapping[str, str] = {}
    """The file and the line of each setting that comes from the file, by its field."""
    warning: str = ""
    """One line; empty: there is nothing to warn of."""

    def settings(self, read: Callable[[Mapping[str, str]], Settings], prefix: str = "") -> Settings:
        """Return what `read` makes of the variables whose names begin with `prefix`.

        Raises:
            SettingsError: that of `read`, with the place of each variable of the file.

        """
        try:
            return read({k: v for k, v in self.values.items() if k.startswith(prefix)})
        except SettingsError as exc:
            raise SettingsError([self.located(problem) for problem in exc.problems]) from exc

    def located(self, problem: str) -> str:
        """Return a problem, which begins with the name of its variable, with the variable's place.

        Without a change if the variable is not one of the file.
        """
        place = self.places.get(_field(problem.partition(":")[0]))
        return f"{place}: {problem}" if place else problem


def beside(environ: Mapping[str, str], file: str | None) -> Environment:
    """Return the environment of the process, and the lines of a file for what it does not set.

    A secret that the process sets by its `…_FILE`, or the other way round, is set, too.

    Raises:
        SettingsError: the file cannot be read, a line is neither an assignment nor a comment, or
            the name of a setting is unknown.

    """
    if file is None:
        return Environment(environ)
    try:
        text = read_text(file)
    except UnreadableError as exc:
        raise SettingsError([f"{file}: {exc}"]) from exc
    lines, problems = parse(text)
    if problems:
        shown = [f"{file}:{line}: {problem}" for line, problem in problems[:PROBLEMS_MAX]]
        if more := len(problems) - len(shown):
            shown.append(f"{file}: and {more} more like these")
        raise SettingsError(shown)
    taken = {_field(name) for name in environ}
    given = [each for each in lines if _field(each.name) not in taken]
    settings = {each.name: each.value for each in given if _is_setting(each.name)}
    return Environment(
        values={**settings, **environ},
        others={each.name: each.value for each in given if each.name not in settings},
        places={_field(each.name): f"{file}:{each.line}" for each in given},
        warning=_exposure(file, lines),
    )


def parse(text: str) -> tuple[list[Assignment], list[tuple[int, str]]]:
    """Return the assignments of a file, and its problems, each with the number of its line.

    A line is empty, a comment that begins with `#`, or NAME=VALUE, perhaps behind `export`. A
    value may stand in single quotes, or in double quotes, where a backslash goes before `"` and
    before itself. Nothing is expanded.
    """
    assignments: dict[str, Assignment] = {}
    problems: list[tuple[int, str]] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        try:
            name, value = _assignment(stripped)
        except _BadLineError as exc:
            problems.append((number, str(exc)))
            continue
        if name in assignments:
            problems.append((number, f"{name}: line {assignments[name].line} sets it, too"))
        else:
            assignments[name] = Assignment(name, value, number)
    return list(assignments.values()), problems


class _BadLineError(ValueError):
    """The line is no assignment. The text says why, without the value."""


def _assignment(line: str) -> tuple[str, str]:
    """The name and the value of a line."""
    matched = _ASSIGNMENT.fullmatch(line)
    if matched is None:
        raise _BadLineError("must be NAME=VALUE, or a comment that begins with #")
    name, given = matched.groups()
    if problem := name_problem(name):
        raise _BadLineError(problem)
    try:
        return name, _value(given)
    except _BadLineError as exc:
        raise _BadLineError(f"{name}: {exc}") from None


def _value(given: str) -> str:
    """The value, without its quotes."""
    text = given.strip()
    if "\0" in text:  # no variable can hold one
        raise _BadLineError("holds a NUL character")
    if text[:1] not in _QUOTED:
        # A shell would take it for a comment, systemd and Docker for a part of the value.
        if re.search(r"\s#", given):
            raise _BadLineError("a value with ` #` needs quotes, and a comment its own line")
        return text
    matched = _QUOTED[text[0]].fullmatch(text)
    if matched is None:
        raise _BadLineError("the quote must be closed at the end of the same line")
    return matched[1] if text[0] == "'" else _ESCAPED.sub(r"\1", matched[1])


def _field(name: str) -> str:
    """The field that a variable sets, in each of its spellings; of another variable its name."""
    if name in ALIASES:
        return ALIASES[name]
    if not name.startswith(PREFIX):
        return name
    field = name.removeprefix(PREFIX).lower()
    without_file = field.removesuffix("_file")
    return without_file if without_file in SECRETS else field


def _is_setting(name: str) -> bool:
    return name.startswith(PREFIX) or name in ALIASES


def _exposure(file: str, lines: list[Assignment]) -> str:
    """The warning that other users may read the secrets of a file; empty: there is none."""
    has_secret = any(
        each.value and _field(each.name) in SECRETS and not each.name.upper().endswith("_FILE")
        for each in lines
    )
    if has_secret and is_open_to_others(file):
        return f"{file}: other users can read its secrets; `chmod 600` closes it"
    return ""
