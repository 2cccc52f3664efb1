"""One line in the log for each attempt: fixed words, never a prompt, a token or a sentence."""

import logging
from typing import Final

from turnwire_agent.llm.events import Finish
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.model import Model

LOGGER: Final = logging.getLogger("turnwire_agent.llm.call")


def finished(model: Model, attempt: int, finish: Finish) -> None:
    LOGGER.info(
        "model call: provider=%s model=%s attempt=%d outcome=%s",
        model.provider,
        model.name,
        attempt,
        finish.reason,
    )


def abandoned(model: Model, attempt: int) -> None:
    """Whoever asked hears the answer no longer."""
    LOGGER.info(
        "model call: provider=%s model=%s attempt=%d outcome=abandoned",
        model.provider,
        model.name,
        attempt,
    )


def failed(
    model: Model, attempt: int, fault: Fault, following: str, *, final: bool = False
) -> None:
    """Log a fault: as a warning if the call is made again, as an error if it has failed.

    Args:
        model: Who was asked.
        attempt: From 1 on.
        fault: Its message is not shown: it may have parts of the prompt.
        following: What comes now, as `again in 0.500 s`.
        final: It is the verdict.
    """
    LOGGER.log(
        logging.ERROR if final else logging.WARNING,
        "model call: provider=%s model=%s attempt=%d outcome=%s status=%d code=%s: %s",
        model.provider,
        model.name,
        attempt,
        fault.kind,
        fault.status,
        fault.code or "-",
        following,
    )
