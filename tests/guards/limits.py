"""The committed limits of the guards: what fails when it grows by a tenth.

`make guards-write` writes them anew, on purpose; their diff is the review.
"""

import json
import os
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("limits.json")
_MORE: Final = 1.10


def hold(name: str, value: float) -> None:
    """Fail if this is more than a tenth over its limit."""
    limits: dict[str, float] = json.loads(_FILE.read_text())
    if os.environ.get("GUARDS") == "rewrite":
        limits[name] = round(value, 2)
        _FILE.write_text(json.dumps(limits, indent=2, sort_keys=True) + "\n")
        return
    limit = limits[name]
    assert value <= limit * _MORE, f"{name}: {value:.2f}, and {limit} before"
