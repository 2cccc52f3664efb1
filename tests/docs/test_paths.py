"""The files and names that the docs speak of exist."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src/turnwire"
PAGES: Final = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "packages").glob("*/*.md")]
)
PATH: Final = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.py)`|\]\((?:\.\./)?(src/[\w./-]+\.py)\)")
FIVE: Final = (
    "web/routes/chat.py",
    "relay/turn_stream.py",
    "core/turn/turn.py",
    "dialects/v2/turn.py",
    "core/ui_stream/translator.py",
)


def stands(path: str) -> bool:
    tops = (ROOT, SOURCE, ROOT / "src", ROOT / "src/turnwire_lab", ROOT / "tests")
    return any((top / path).is_file() for top in tops) or "/" not in path


def rows() -> Iterator[tuple[list[str], list[str]]]:
    """The files and the names of each row of the page on the hot path."""
    for line in (ROOT / "docs/hot-path.md").read_text().splitlines():
        if line.startswith("| `"):  # other tables have other rows
            marked = re.findall(r"`([^`]+)`", line.split("|")[1])
            files = [each for each in marked if each.endswith(".py")]
            if files:
                yield files, [each for each in marked if each not in files]


def test_every_file_that_the_docs_name_exists() -> None:
    missing = [
        f"{page.name}: {path}"
        for page in PAGES
        for found in PATH.findall(page.read_text())
        for path in found
        if path and not stands(path)
    ]

    assert missing == []


def test_every_name_on_the_hot_path_stands_in_its_file() -> None:
    for files, names in rows():
        texts = [(SOURCE / file).read_text() for file in files]
        for name in names:
            assert any(re.search(rf"\b{name}\b", text) for text in texts), (files, name)


def test_the_five_files_of_a_request_are_the_same_everywhere() -> None:
    architecture = (ROOT / "docs/architecture.md").read_text()
    listed = re.findall(r"^\| \d \| `([\w/.]+)`", architecture, re.MULTILINE)
    readme = (ROOT / "README.md").read_text().partition("five files in order")[2]
    chat = (SOURCE / FIVE[0]).read_text().partition('"""\n\n')[0]

    assert tuple(listed) == FIVE
    assert tuple(re.findall(r"\(src/turnwire/([\w/]+\.py)\)", readme))[:5] == FIVE
    assert [chat.find(file) for file in FIVE[1:]] == sorted(chat.find(file) for file in FIVE[1:])
    assert all(file in chat for file in FIVE[1:])


def test_the_test_of_each_npm_packages_readme_is_on_the_page_of_promises() -> None:
    page = (ROOT / "docs/compatibility.md").read_text(encoding="utf-8")
    manifests = [json.loads(path.read_text()) for path in (ROOT / "clients").glob("*/package.json")]
    published = {
        each["name"].removeprefix("turnwire-") for each in manifests if not each.get("private")
    }

    assert set(re.findall(r"`clients/(\w+)/tests/readme\.test\.ts`", page)) == published
    assert all((ROOT / f"clients/{each}/tests/readme.test.ts").is_file() for each in published)
