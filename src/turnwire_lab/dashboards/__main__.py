"""`python -m turnwire_lab.dashboards [--check]`: write dashboards/, or say what is stale."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from turnwire_lab.dashboards.board import grafana
from turnwire_lab.dashboards.rules import alerting, recording

ROOT: Final = Path(__file__).resolve().parents[3] / "dashboards"

FILES: Final[Mapping[str, Callable[[], str]]] = {
    "turnwire.json": grafana,
    "rules/recording.yml": recording,
    "rules/alerts.yml": alerting,
}


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Go through the files. 1 if `--check` found a stale one."""
    parser = argparse.ArgumentParser(prog="python -m turnwire_lab.dashboards", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    check = parser.parse_args(arguments).check
    stale = []
    for name, made in FILES.items():
        path, text = root / name, made()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if check:
            print(f"dashboards/{name} is stale: run `make dashboards`")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"dashboards/{name} written anew")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
