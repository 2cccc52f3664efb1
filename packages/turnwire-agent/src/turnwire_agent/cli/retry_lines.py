"""Lines that say why an answer takes long."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from turnwire_agent.llm.call.attempt_log import LOGGER


class _Lines(logging.Handler):
    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno == logging.WARNING:
            self._show(record.getMessage())


@contextmanager
def retries_shown(show: Callable[[str], None]) -> Iterator[None]:
    """Show each attempt that another one follows. What fails at last is shown by the command.

    Args:
        show: Takes a line.
    """
    lines = _Lines(show)
    LOGGER.addHandler(lines)
    try:
        yield
    finally:
        LOGGER.removeHandler(lines)
