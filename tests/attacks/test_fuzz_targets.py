"""What `make fuzz` runs for minutes is run here for a moment, so that it goes on working."""

from random import Random

import pytest

from attacks.fuzz.run import NAMES
from attacks.fuzz.script import Counted
from attacks.fuzz.targets import TARGETS

DICE = 200


@pytest.mark.attack(
    "made-up frames, bodies, approvals and histories, by the million (`make fuzz`)",
    "each input is read, counted or refused; every stream keeps the promises",
)
@pytest.mark.parametrize("name", NAMES)
def test_no_input_breaks_a_promise(name: str) -> None:
    target = TARGETS[name]
    dice = Random(7)  # noqa: S311 (dice of a test)
    before = Counted.runs

    for seed in target.seeds[::5]:
        target.run(seed)
    for _ in range(DICE):
        changed = bytearray(dice.choice(target.seeds))
        for _ in range(3):
            changed[dice.randrange(len(changed))] = dice.randrange(256)
        target.run(bytes(changed))

    assert Counted.runs >= before + DICE


def test_every_target_is_run() -> None:
    assert set(NAMES) == TARGETS.keys()
