"""The suite of tests that a dialect's author runs: `from turnwire.testing import DialectSuite`.

A strict client and the six promises (`core.ui_stream.translator`) judge what a dialect makes of a
scripted agent: whole, in random orders, cut after each frame, stopped, read again, recorded.
"""

from turnwire.testing.scripts import (
    ERROR,
    INPUT,
    OUTPUT,
    PROMPT,
    QUESTION,
    SCRIPTS,
    TOOL_NAME,
    Script,
)
from turnwire.testing.suite import DialectSuite, failures

__all__ = [
    "ERROR",
    "INPUT",
    "OUTPUT",
    "PROMPT",
    "QUESTION",
    "SCRIPTS",
    "TOOL_NAME",
    "DialectSuite",
    "Script",
    "failures",
]
