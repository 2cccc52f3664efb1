"""What pages tell to paste has no comments: the shell of a Mac, zsh, takes them for arguments."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FENCED: Final = re.compile(r"^ *```(?:sh|bash)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
INDENTED: Final = re.compile(r"(?<=\n\n)(?: {4}.*\n)+")
COMMAND: Final = re.compile(
    r" {4}(?:\.venv/|cd |cp |curl |docs/examples/|export |git |kill |make |node |np[mx] |pip "
    r"|python|turnwire)"
)
QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
COMMENT: Final = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)


def pages() -> list[Path]:
    """The pages that people read, and nothing that npm installed."""
    folders = ("clients/*", "deploy", "deploy/*", "docs", "examples/*", "examples/*/*")
    found = [ROOT / "README.md", *ROOT.glob("packages/*/README.md")]
    found += ROOT.glob("src/*/*/README.md")
    return found + [page for folder in folders for page in ROOT.glob(f"{folder}/*.md")]


def pasted(text: str) -> list[str]:
    indented = [block for block in INDENTED.findall(text) if COMMAND.match(block)]
    return FENCED.findall(text) + indented


def comments(text: str) -> list[str]:
    bare = (QUOTED.sub("''", block) for block in pasted(text))
    return [found for block in bare for found in COMMENT.findall(block)]


def test_comments_are_found() -> None:
    fenced = "```sh\nmake  # one\n# two\necho '# no' \"#\" ${a##b}\n```\n"
    indented = "\n\n    make demo    # three\n    # four\n\n    no command # no\n"

    assert comments(fenced + indented) == ["# one", "# two", "# three", "# four"]


def test_no_line_that_is_pasted_has_a_comment() -> None:
    found = {str(page.relative_to(ROOT)): comments(page.read_text("utf-8")) for page in pages()}

    assert len(found) > 50
    assert {page: lines for page, lines in found.items() if lines} == {}
