"""A file of SQLite is made for its owner alone, and what has it open keeps its locks."""

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from turnwire_agent.private_file import make_private

WRITE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    database.execute("begin immediate")
except sqlite3.OperationalError as error:
    print(error.sqlite_errorname)
else:
    print("written")
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.db"


def other_process(path: Path) -> str:
    """What becomes of a write of another process."""
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(path)], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_it_is_made_for_its_owner_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        make_private(path)
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == b""


def test_a_link_whose_target_is_not_there_is_made_there(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)

    make_private(link)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_one_that_is_there_stays_as_it_is(path: Path) -> None:
    path.write_text("kept")
    path.chmod(0o640)

    make_private(path)

    assert path.read_text() == "kept"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_connection_of_this_process_keeps_its_lock(path: Path) -> None:
    """As each second connection of a journal, and each thread of a token store, asks for it."""
    make_private(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("begin immediate")

        make_private(path)

        assert other_process(path) == "SQLITE_BUSY"
        database.execute("commit")
    assert other_process(path) == "written"


def test_a_folder_that_is_not_there_is_an_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        make_private(path / "none")
