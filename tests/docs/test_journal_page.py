"""The page about the journal has every statement, and the names that it gives exist."""

import re
from pathlib import Path

from turnwire_agent.journal.sql import statements
from turnwire_lab.docs.runtime.journal import WHAT, every_statement, every_table

PAGE = (Path(__file__).parents[2] / "docs/agent-journal.md").read_text(encoding="utf-8")


def test_every_statement_is_shown_and_each_once() -> None:
    written = {name for name in vars(statements) if name.isupper()}

    assert set(WHAT) == written
    shown = every_statement()
    assert all(shown.count(getattr(statements, name).strip()) == 1 for name in written)


def test_every_column_that_a_statement_names_is_in_a_table() -> None:
    tables = every_table()
    named = set(re.findall(r"\bjournal_\w+", every_statement()))

    assert named == {"journal_session", "journal_row", "journal_command", "journal_effect"}
    assert all(f"create table {name} " in tables for name in named)


def test_the_page_has_both() -> None:
    assert every_statement() in PAGE
    assert every_table() in PAGE
