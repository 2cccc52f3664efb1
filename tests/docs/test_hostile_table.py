"""The table of what others notice of an attack: kept in a file, shown on a page."""

from pathlib import Path

import msgspec

from turnwire_lab.docs.hostile import NOTHING, Row, Table, markdown, read, renewed, write

ROW = Row(
    who="agent",
    attack="pings",
    wire="v2",
    added_p99_ms=1.25,
    first_byte_ms=7.6,
    growth_mib=3.4,
    lasted_s=0.04,
    broken=[],
)
CLIENT = Row(
    who="client",
    attack="slow heads",
    wire="v2",
    added_p99_ms=300.0,
    first_byte_ms=7.6,
    growth_mib=99.0,
    lasted_s=None,
    broken=["late deltas", "memory"],
)
TABLE = Table(
    machine="a machine",
    date="2026-01-02",
    quiet={"v2": 1.2},
    waited_cores=0.05,
    rows=[ROW, CLIENT],
)


def test_each_row_says_what_was_measured_and_what_is_broken() -> None:
    text = markdown(TABLE)

    assert "| agent | pings | `v2` | 1.2 ms | 8 ms | 3 MiB | 0.0 s | ok |\n" in text
    assert "| 300.0 ms | 8 ms | 99 MiB |  | late deltas, memory |\n" in text
    assert "99 of 100 deltas took at most 1.2 ms with v2. In the median row, other programs" in text


def test_without_a_table_the_page_says_so(tmp_path: Path) -> None:
    assert read(tmp_path / "none.json") is None
    assert markdown(None) == NOTHING


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    write(path, TABLE)

    assert read(path) == TABLE
    assert path.read_text().endswith("}\n")


def test_rows_that_were_measured_anew_replace_the_old_ones() -> None:
    again = msgspec.structs.replace(CLIENT, growth_mib=9.0, broken=[])
    new = msgspec.structs.replace(TABLE, quiet={"session-agent": 2.0}, rows=[again])

    both = renewed(TABLE, new)

    assert both.rows == [ROW, again]
    assert both.quiet == {"v2": 1.2, "session-agent": 2.0}
    assert renewed(None, new) == new
