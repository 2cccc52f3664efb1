"""Names of tools on a wire.

A tool is registered under any name; each provider takes its own letters. A name that fits is sent
as it is. Any other becomes a readable slug and eight digits of a digest of the name, the same in
every process. The way back is a table of the request, never a guess from the letters: names with
replaced letters collide, and a wrong tool would run without its approval.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct

from turnwire_agent.tools.schema.rules import Shape

NAME_MAX: Final = 256
"""Most characters of a registered name."""
LISTED_MAX: Final = 50
"""Most names in an answer to a call of a tool that does not exist."""
_DIGITS: Final = 8
_LETTERS: Final = re.compile(r"[^A-Za-z0-9_-]+")


class NameRule(Struct, frozen=True):
    """What a shape takes as the name of a tool."""

    pattern: str


_OPENAI: Final = NameRule(r"[a-zA-Z0-9_-]{1,64}")

NAME_RULES: Final[Mapping[Shape, NameRule]] = {
    "chat": _OPENAI,
    "responses": _OPENAI,
    "messages": NameRule(r"[a-zA-Z0-9_-]{1,128}"),
    # Newer models take 128.
    "google": NameRule(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
}
"""As of 2026-11."""
SLUG_MAX: Final = 64 - _DIGITS - 1
"""Most characters before the digest: what is left of the shortest names."""


class BadNameError(ValueError):
    """A name that no tool may have, or that another tool has. Its text is one line."""


def check_name(name: object) -> None:
    """Refuse what is no name of a tool: any printable text that fits into a line is one.

    Raises:
        BadNameError: in one line.

    """
    if not isinstance(name, str) or not name or len(name) > NAME_MAX:
        raise BadNameError(f"the name of a tool is a text of 1 to {NAME_MAX} characters")
    if not name.isprintable() or name != name.strip():
        raise BadNameError(f"{name[:60]!a} is no name of a tool: it is not printed as written")


def wire_name(name: str, shape: Shape) -> str:
    """Return the name under which a tool is sent."""
    if re.fullmatch(NAME_RULES[shape].pattern, name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    ascii_letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = _LETTERS.sub("_", ascii_letters).strip("_-")[:SLUG_MAX].rstrip("_-") or "tool"
    if not (slug[0].isalpha() or slug[0] == "_"):
        slug = f"_{slug[: SLUG_MAX - 1]}"
    return f"{slug}_{digest}"


class WireNames(Struct, frozen=True, dict=True):
    """The names of one request. It is data, so that it can be kept with the request's answer."""

    registered: Mapping[str, str]
    """By name on the wire: the registered one."""

    def wire(self, name: str) -> str:
        """Return the name on the wire of a registered one.

        Raises:
            KeyError: the name is none of this request.

        """
        return self._wire[name]

    @cached_property
    def _wire(self) -> dict[str, str]:
        return {name: wire for wire, name in self.registered.items()}

    def tool(self, wire: str) -> str | None:
        """Return the registered name of what a model called. None: the model invented it."""
        return self.registered.get(wire)

    def unknown(self, wire: str) -> str:
        """Return what the model is told when it calls a tool that does not exist."""
        names = sorted(self.registered)
        more = len(names) - LISTED_MAX
        listed = ", ".join(names[:LISTED_MAX]) + (f" and {more} more" if more > 0 else "")
        there = f"The tools are: {listed}." if names else "There are no tools."
        return f"There is no tool {wire[:64]!a}. {there}"


def wire_names(names: Iterable[str], shape: Shape) -> WireNames:
    """Make the table of one request.

    Raises:
        BadNameError: two of the names are the same, or would be on this wire.

    """
    table: dict[str, str] = {}
    for name in names:
        other = table.setdefault(wire_name(name, shape), name)
        if other is not name and other != name:
            wire = wire_name(name, shape)
            raise BadNameError(f"{other!r} and {name!r} are both {wire!r} on the wire ({shape})")
    return WireNames(table)
