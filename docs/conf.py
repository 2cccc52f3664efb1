"""The docs site: every page of this folder, by Sphinx. `make docs` builds it into build/site."""

import re

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from turnwire import __version__

project = "turnwire"
release = version = __version__
project_copyright = "the turnwire authors"
html_title = f"turnwire {release}"

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3  # as GitHub makes them, so that links work there and here
exclude_patterns = ["pictures", "static"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
# Pages end on their own facts, not on how they were built.
html_show_copyright = False
highlight_language = "none"

# Pages link to files beside this folder, as they must where the repository is read. The site has
# the three that are for readers as pages of its own; the others are named, not linked.
_PAGE = re.compile(r"\]\((?:\.\./)?(README|SECURITY|CHANGELOG)\.md")
_FILE = re.compile(r"\[([^\]]+)\]\((?:\.\./|(?=(?:src|tests|deploy|dashboards)/))[^)#]*\)")


def _here(_: Sphinx, __: str, source: list[str]) -> None:
    linked = _PAGE.sub(lambda found: f"]({found[1].lower()}.md", source[0])
    source[0] = _FILE.sub(r"\1", linked)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_lexer("mermaid", TextLexer)  # drawn where the repository is read; here it is text
    app.connect("source-read", _here)
    app.connect("include-read", lambda app, _, name, source: _here(app, str(name), source))
