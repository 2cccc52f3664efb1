"""No wire is known by its name outside of its package and of the settings.

Else a dialect that others wrote would be worth less than one of ours.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from turnwire.dialects import DIALECTS
from turnwire.dialects.acp.turn import CANCEL_S
from turnwire.relay.turn_log.patient_claims import ENDING_S

SOURCE: Final = Path(__file__).parents[2] / "src/turnwire"
ROOMS: Final = ("core", "dialect", "relay", "web", "cli")
ALLOWED: Final = {
    "cli/bridge.py": ("opencode acp", "an example of a command, whose own word it is"),
    "web/routes/chat.py": ("`dialects/v2/turn.py`", "one of five files for readers of the source"),
}
"""Texts with a name that may stand there, and why."""

_NAMES: Final = {*DIALECTS, *(type(dialect).__name__ for dialect in DIALECTS.values())}
NAME: Final = re.compile(
    rf"(?<![\w-])(?:{'|'.join(sorted(map(re.escape, _NAMES)))})(?![\w-])|\bdialects[./][a-z]"
)


def found(path: Path) -> Iterator[tuple[int, str]]:
    """Each line with a name of a wire, docstrings and comments included."""
    relative = str(path.relative_to(SOURCE))
    allowed, _ = ALLOWED.get(relative, ("", ""))
    for number, line in enumerate(path.read_text().splitlines(), 1):
        rest = line.replace(allowed, "") if allowed else line
        if NAME.search(rest):
            yield number, line.strip()


@pytest.mark.parametrize("room", ROOMS)
def test_no_wire_is_named(room: str) -> None:
    named = [
        f"{path.relative_to(SOURCE)}:{number}: {line}"
        for path in sorted((SOURCE / room).rglob("*.py"))
        for number, line in found(path)
    ]

    assert named == []


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ('name = "v2"', True),
        ("from turnwire.dialects.ag_ui import AgUi", True),
        ("TURNWIRE_DIALECT=ui-stream", True),
        ("# as session-agent does", True),
        ("nav2 = v22 + get_v2x", False),
        ("import turnwire.dialects.ui_stream.frames", True),
        ("core.ui_stream is a room of the core", False),
        ("from turnwire.dialects import DIALECTS", False),
    ],
)
def test_what_counts_as_a_name(line: str, is_found: bool) -> None:  # noqa: FBT001 (a table)
    assert bool(NAME.search(line)) is is_found


@pytest.mark.parametrize("path", ALLOWED)
def test_what_is_allowed_stands_there(path: str) -> None:
    assert ALLOWED[path][0] in (SOURCE / path).read_text()


def test_the_table_is_read_by_key_in_one_place_alone() -> None:
    by_key = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bDIALECTS(?:\[|\.get\()", path.read_text())
    ]

    assert by_key == ["config/dialect_loading.py"]


def test_a_claim_waits_longer_than_any_wire_takes_to_end_a_turn() -> None:
    """The log of turns does not know the wires, so its number stands apart from theirs."""
    assert ENDING_S > CANCEL_S
