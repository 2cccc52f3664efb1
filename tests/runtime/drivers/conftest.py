"""Journals that outlive the agents on them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.drivers.kept_journal import KeptJournal
from turnwire_agent.journal.port import Journal
from turnwire_agent.journal.sqlite.journal import SqliteJournal


@pytest.fixture(params=["memory", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Journal]:
    """Opens journals on one and the same data."""
    if request.param == "memory":
        kept = KeptJournal()
        return lambda: kept
    return lambda: SqliteJournal(tmp_path / "journal.db", synchronous="normal")
