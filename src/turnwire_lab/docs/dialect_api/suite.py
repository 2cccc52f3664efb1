"""The tests of `turnwire.testing`, and the scripts that they play, from the code."""

import inspect
from collections.abc import Iterator
from typing import Final

from turnwire.testing.exchanges import EXCHANGES
from turnwire.testing.scripts import SCRIPTS
from turnwire.testing.suite import DialectSuite, suite_tests

TEST_HEAD: Final = ("Test", "What it proves")
SCRIPT_HEAD: Final = ("Script", "What the agent does", "Texts, reasoning, question")
EXCHANGE_HEAD: Final = ("Turn", "What the agent does")


def test_rows() -> Iterator[tuple[str, str]]:
    """A row for each test, in the order of the source."""
    for name, test in suite_tests(DialectSuite).items():
        text = inspect.getdoc(test) or ""
        yield f"`{name}`", " ".join(text.partition("\n\n")[0].split())


def script_rows() -> Iterator[tuple[str, str, str]]:
    """A row for each script. Texts stand as JSON, for line breaks."""
    for name, script in SCRIPTS.items():
        texts = [*([script.reasoning] if script.reasoning else []), *script.texts]
        texts += [script.question] if script.question else []
        yield f"`{name}`", script.meaning, ", ".join(f"`{text!a}`" for text in texts) or "none"


def exchange_rows() -> Iterator[tuple[str, str]]:
    """A row for each turn that asks."""
    for name, script in EXCHANGES.items():
        yield f"`{name}`", script.meaning
