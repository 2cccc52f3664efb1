"""Changes that nobody can notice, each with its reason: `equivalent.toml`."""

import tomllib
from pathlib import Path
from typing import Final

LIST: Final = Path(__file__).with_name("equivalent.toml")


def equivalent(path: Path = LIST) -> dict[str, str]:
    """The reason for each, by the name of the change.

    Raises:
        ValueError: one is there twice.

    """
    reasons: dict[str, str] = {}
    for entry in tomllib.loads(path.read_text()).get("equivalent", []):
        for name in entry["changes"]:
            if name in reasons:
                raise ValueError(f"{name} is there twice")
            reasons[name] = entry["reason"]
    return reasons
