"""Scripts find their files in a clone whose path has a space, too."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = ("clients", "src", "tests")
MADE: Final = {"node_modules", "dist", "build"}
UNDECODED: Final = re.compile(
    r"(?<!decodeURIComponent\()new URL\([^()]*import\.meta\.url\)\.pathname"
)
"""The path of a URL has `%20` for a space. `fileURLToPath` decodes it as well."""


def scripts(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir() and path.name not in MADE:
            yield from scripts(path)
        elif path.suffix in {".ts", ".mts", ".mjs", ".js"}:
            yield path


def test_no_script_takes_the_path_of_a_url_for_a_file() -> None:
    found = [path for folder in FOLDERS for path in scripts(ROOT / folder)]
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in found}

    assert len(texts) > 50
    assert [name for name, text in texts.items() if UNDECODED.search(text)] == []
