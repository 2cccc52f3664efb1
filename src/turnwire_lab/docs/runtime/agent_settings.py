"""The settings of an agent, from the classes that they are."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from turnwire_agent.cli.agent.field_texts import field_texts
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.loop.limits import Limits
from turnwire_agent.settings import GROUPS, Agent, Api, McpServer

HEAD: Final = ("Field", "Default", "What it is")

KINDS: Final[dict[str, tuple[str, type[Struct]]]] = {
    "agent-settings": ("", Agent),
    "agent-settings-limits": ("limits.", Limits),
    "agent-settings-host": ("host.", HostSettings),
    "agent-settings-mcp": ("mcp.NAME.", McpServer),
    "agent-settings-openapi": ("openapi.NAME.", Api),
}
"""By the name of the table: what stands before a field, and the class."""


def rows(prefix: str, kind: type[Struct]) -> Iterator[tuple[str, str, str]]:
    """A row for each field."""
    texts = field_texts(kind)
    for field in structs.fields(kind):
        if field.name not in GROUPS:
            default = "must be given" if field.required else _default(field.default)
            yield f"`{prefix}{field.name}`", default, texts[field.name]


def _default(value: Any) -> str:
    if value in (None, "", (), msgspec.NODEFAULT):  # the last: an empty dict, made anew each time
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
