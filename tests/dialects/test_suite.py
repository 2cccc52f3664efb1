"""Our own wires pass the suite that authors of dialects run (`turnwire.testing`)."""

from typing import Final

import pytest

from support import suites
from support.form import LONG, either
from turnwire.dialects import DIALECTS

pytestmark = pytest.mark.no_cover  # the wires have tests of their own

SEEDS: Final = either(3, 400)
ROUNDS: Final = either(2_000, 10_000)


class TestV2(suites.V2Suite):
    seeds = SEEDS
    rounds = ROUNDS


class TestSessionAgent(suites.SessionAgentSuite):
    seeds = SEEDS
    rounds = ROUNDS


class TestSessionAgentA(TestSessionAgent):
    revision = "A"


class TestSessionAgentV(TestSessionAgent):
    revision = "V"


class TestAcp(suites.AcpSuite):
    seeds = SEEDS
    rounds = ROUNDS


class TestAgUi(suites.AgUiSuite):
    seeds = SEEDS
    rounds = ROUNDS


class TestUiStream(suites.UiStreamSuite):
    seeds = SEEDS
    rounds = ROUNDS


class TestOpenAiChat(suites.OpenAiChatSuite):
    seeds = SEEDS
    rounds = ROUNDS
    if not LONG:
        growth_max = 120_000  # it keeps up to 4,096 ids of calls that are done


class TestOpenAiResponses(suites.OpenAiResponsesSuite):
    seeds = SEEDS
    rounds = ROUNDS


def test_every_wire_runs_it() -> None:
    tried = {each.dialect.name for each in suites.OwnSuite.__subclasses__()}

    assert tried == set(DIALECTS)
