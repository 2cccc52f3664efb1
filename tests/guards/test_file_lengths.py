"""A file is read in one go: few have more than 400 lines, none more than 500. So is a room."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
RUNTIME: Final = ROOT / "packages/turnwire-agent/src"
CLIENT: Final = ROOT / "packages/turnwire-client/src"
LINES_MAX: Final = 500
LONG: Final = 400
MODULES_MAX: Final = 16
FEW: Final = 14
"""Files that may be longer than that: one machine, or one list, that would be read worse in two."""
WRITTEN: Final = {".py", ".ts", ".tsx", ".mjs", ".js", ".css", ".c"}
MADE: Final = {"node_modules", "dist", "__pycache__"}
"""Folders of what others wrote, or a build did."""


def written(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir() and path.name not in MADE:
            yield from written(path)
        elif path.suffix in WRITTEN:
            yield path


def test_no_file_is_long() -> None:
    lines = {
        str(path.relative_to(ROOT)): len(path.read_bytes().splitlines())
        for folder in ("src", "tests", "packages/turnwire-agent", "packages/turnwire-client")
        for path in written(ROOT / folder)
    }

    assert len(lines) > 500
    assert {name: count for name, count in lines.items() if count > LINES_MAX} == {}
    assert len([name for name, count in lines.items() if count > LONG]) <= FEW


def test_no_room_is_crowded() -> None:
    sources = [path for top in (ROOT / "src", RUNTIME, CLIENT) for path in top.rglob("*.py")]
    rooms = {path.parent for path in sources}
    modules = {
        str(room.relative_to(ROOT)): len(
            [path for path in room.glob("*.py") if path.stem != "__init__"]
        )
        for room in rooms
    }

    assert {name: count for name, count in modules.items() if count > MODULES_MAX} == {}
