"""One line in the log for each call: fixed words and names of the server's own, never a prompt."""

import logging
from typing import Final

from turnwire_agent.access.refusal import UNKNOWN

LOGGER: Final = logging.getLogger("turnwire_agent.generate")


def answered(model: str, outcome: str, parts: int, seconds: float) -> None:
    """Log a call that was made.

    Args:
        model: The name that the server gave it.
        outcome: A reason to finish, the kind of a fault, or `gone`: the client was.
        parts: How many its client was told.
        seconds: From the request to the end of the answer.
    """
    LOGGER.info(
        "generate: model=%s status=200 outcome=%s parts=%d seconds=%.3f",
        model,
        outcome,
        parts,
        seconds,
    )


def refused(status: int, why: str, model: str = UNKNOWN) -> None:
    """Log a request without a call. `why` is fixed words."""
    LOGGER.warning("generate: model=%s status=%d outcome=refused: %s", model, status, why)
