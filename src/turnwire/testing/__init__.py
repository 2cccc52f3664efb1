"""The suite of tests that a dialect's author runs: `from turnwire.testing import DialectSuite`.

A strict client and the six promises (`core.ui_stream.translator`) judge what a dialect makes of a
scripted agent: whole, in random orders, cut after each frame, stopped, read again, recorded.
"""

from turnwire.testing.exchanges import EXCHANGES, SIDE_BY_SIDE, Exchange
from turnwire.testing.scripts import (
    ANSWER,
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
    "ANSWER",
    "ERROR",
    "EXCHANGES",
    "INPUT",
    "OUTPUT",
    "PROMPT",
    "QUESTION",
    "SCRIPTS",
    "SIDE_BY_SIDE",
    "TOOL_NAME",
    "DialectSuite",
    "Exchange",
    "Script",
    "failures",
]
