"""The examples of ACP in the docs are messages that the protocol's own package accepts."""

import json
import subprocess
from typing import Any, Final

import pytest

from agents import acp_validity
from gateway.needed import lacking
from turnwire_lab.agents.frameworks.catalog import OTHER_AGENTS
from turnwire_lab.docs.lost.examples import LOSSES, OPENED, Loss

WIRE: Final = "acp"
UNKNOWN: Final = "a frame of a type that is not known"
EXAMPLES: Final = [loss for loss in LOSSES if WIRE in loss.frames]


def refused(messages: list[Any]) -> list[str]:
    """Return why the installed package refuses these messages, as far as it does."""
    python = OTHER_AGENTS[WIRE].python
    if not python.exists():
        lacking("the agent is not installed: `make tools`")
    ran = subprocess.run(
        [python, acp_validity.__file__],
        input=json.dumps(messages).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    reasons: list[str | None] = json.loads(ran.stdout)
    return [reason for reason in reasons if reason is not None]


def test_the_examples_of_losses_begin_as_an_agent_does() -> None:
    assert refused([*OPENED[WIRE]]) == []


@pytest.mark.parametrize("loss", EXAMPLES, ids=[loss.what for loss in EXAMPLES])
def test_an_example_of_a_loss_is_what_an_agent_can_send(loss: Loss) -> None:
    messages = [frame for frame in loss.frames[WIRE] if isinstance(frame, dict)]

    assert len(refused(messages)) == (1 if loss.what == UNKNOWN else 0)
