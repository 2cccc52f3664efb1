"""`python -m turnwire_lab.docs [--check]`: write the generated tables, or say which are stale."""

import argparse
import sys
from pathlib import Path

from turnwire_lab.docs.marked import renewed
from turnwire_lab.docs.tables import TABLES

_ROOT = Path(__file__).resolve().parents[3]


def main() -> int:
    """Go through the pages. 1 if `--check` found a stale one."""
    parser = argparse.ArgumentParser(prog="python -m turnwire_lab.docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    check = parser.parse_args().check
    tables = {name: table() for name, table in TABLES.items()}
    stale = []
    used: set[str] = set()
    for page in (_ROOT / "README.md", *sorted((_ROOT / "docs").rglob("*.md"))):
        text = page.read_text(encoding="utf-8")
        new, names = renewed(text, tables)
        used |= names
        if new != text:
            stale.append(page.relative_to(_ROOT))
            if not check:
                page.write_text(new, encoding="utf-8")
    for name in sorted(tables.keys() - used):
        print(f"docs: the table {name} stands on no page", file=sys.stderr)
    for path in stale:
        print(f"docs: {path} {'is stale: run `make docs`' if check else 'written anew'}")
    return 1 if (check and stale) or tables.keys() - used else 0


if __name__ == "__main__":
    sys.exit(main())
