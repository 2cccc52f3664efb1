"""What pages tell to paste.

It has no comments: the shell of a Mac, zsh, takes them for arguments. And `curl` is quiet, since
its progress meter would stand between the chunks.
"""

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
CURL: Final = re.compile(r"(?:^|(?<=[\s'(]))curl ((?:.*\\\n)*.*)", re.MULTILINE)
QUIET: Final = re.compile(r"-s[fN]* ")
STREAM: Final = re.compile(r"/(?:chat|stream)[\s\"?]")
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


def loud(text: str) -> list[str]:
    """The calls of curl with a progress meter, or that hold back the chunks of a stream."""
    calls = [call for block in pasted(text) for call in CURL.findall(block)]
    return [
        call
        for call in calls
        if QUIET.match(call) is None or (STREAM.search(call) and not call.startswith("-sN "))
    ]


def test_loud_calls_are_found() -> None:
    quiet = "curl -sN $s1/chat\ncurl -s $s1/stop\n"
    page = f"```sh\ncurl -N $s1/x\ncurl -s \\\n  $s1/chat -d 1\n{quiet}```\n"

    assert loud(page) == ["-N $s1/x", "-s \\\n  $s1/chat -d 1"]


def test_every_call_of_curl_that_is_pasted_is_quiet_and_shows_chunks_as_they_come() -> None:
    texts = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in pages()}

    assert sum("curl -sN" in text for text in texts.values()) > 9
    assert {page: calls for page, text in texts.items() if (calls := loud(text))} == {}
