import importlib.util
import sys

import pytest

from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.open import MissingExtraError, NoJournalError, open_journal
from turnwire_agent.journal.postgres.journal import PostgresJournal
from turnwire_agent.journal.sqlite.journal import SqliteJournal


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("memory", MemoryJournal),
        ("sqlite:journal.db", SqliteJournal),
        ("postgres://host/database", PostgresJournal),
        ("postgresql://host/database", PostgresJournal),
    ],
)
def test_an_address_is_of_one_store(address: str, kind: type) -> None:
    assert type(open_journal(address)) is kind


@pytest.mark.parametrize("address", ["", "sqlite:", "mysql://me:secret@host", "memory:x"])
def test_any_other_address_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(NoJournalError, match="sqlite:PATH") as refused:
        open_journal(address)

    assert "secret" not in str(refused.value)


def test_an_address_that_postgres_cannot_parse_is_refused_without_repeating_it() -> None:
    with pytest.raises(NoJournalError, match="no address of Postgres") as refused:
        open_journal("postgresql://me:secret%zz@host/database")

    assert "secret" not in str(refused.value)
    assert not isinstance(refused.value, MissingExtraError)


def test_without_the_extra_the_refusal_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert importlib.util.find_spec("psycopg")
    monkeypatch.setitem(sys.modules, "turnwire_agent.journal.postgres.journal", None)

    with pytest.raises(MissingExtraError, match=r"turnwire-agent\[postgres\]"):
        open_journal("postgres://host/database")
