"""The tables of the pages about models, tools and the journal, by their names."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from msgspec import Struct

from turnwire_agent.llm.model import ShapeName
from turnwire_agent.llm.providers import PROVIDERS
from turnwire_agent.llm.shapes import SHAPES
from turnwire_agent.tools.openapi.unsupported import UNSUPPORTED
from turnwire_lab.docs.runtime import (
    agent_settings,
    answers,
    becomes,
    journal,
    kept,
    killed,
    metrics,
)

Table = Callable[[Iterable[str], Iterable[Iterable[str]]], str]


def tables(table: Table) -> dict[str, Callable[[], str]]:
    """What each table is called, and how it is made.

    Args:
        table: Writes a head and rows as Markdown.
    """
    made: dict[str, Callable[[], str]] = {
        "models-providers": lambda: table(PROVIDER_HEAD, _providers()),
        "tools-openapi-unsupported": lambda: table(("Name", "What it is"), _unsupported()),
        "agent-metrics": lambda: table(metrics.HEAD, metrics.rows()),
        "kill-points": lambda: table(killed.HEAD, killed.rows()),
        "drivers-pydantic-ai": lambda: table(kept.HEAD, kept.rows()),
        "journal-tables": journal.every_table,
        "journal-statements": journal.every_statement,
        "models-survival": lambda: table(("Made by", "Asked", "What it gets"), becomes.survival()),
    }
    for name, (prefix, kind) in agent_settings.KINDS.items():
        made[name] = partial(_settings, table, prefix, kind)
    for shape in SHAPES:
        made[f"models-request-{shape}"] = partial(_request, table, shape)
        made[f"models-answer-{shape}"] = partial(_answer, table, shape)
    return made


PROVIDER_HEAD: Final = ("Name", "Wire", "Address", "Key")


def _providers() -> Iterable[tuple[str, str, str, str]]:
    for name, provider in PROVIDERS.items():
        key = f"`{provider.key_variable}`" if provider.key_variable else ""
        yield f"`{name}`", f"`{provider.shape}`", f"`{provider.base_url}`", key


def _unsupported() -> Iterable[tuple[str, str]]:
    for name, what in UNSUPPORTED.items():
        yield f"`{name}`", what


def _settings(table: Table, prefix: str, kind: type[Struct]) -> str:
    return table(agent_settings.HEAD, agent_settings.rows(prefix, kind))


def _request(table: Table, shape: ShapeName) -> str:
    return table(("In the transcript", "On the wire", "Lost"), becomes.rows(shape))


def _answer(table: Table, shape: ShapeName) -> str:
    return table(("On the wire", "Events"), answers.rows(shape))
