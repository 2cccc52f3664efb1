"""What a tool is to a turn: arguments in, a result out, or words why not."""

from collections.abc import Callable
from typing import Any

from turnwire_lab.agents.common.frames import Json

Tool = Callable[[Json], Any]


class ToolFailed(Exception):  # noqa: N818 - a result of a tool, not a fault of the program
    """The tool failed; clients get its text."""


class ToolDenied(ToolFailed):
    """The tool did not run, because it was not approved."""
