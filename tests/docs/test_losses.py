"""Nothing that an agent sends is lost in silence: a client gets something of it, or it counts."""

import pytest

from turnwire.dialects import DIALECTS
from turnwire_lab.docs.lost.examples import LOSSES, OPENED, TEXT, Loss
from turnwire_lab.docs.no_silent_loss import becomes, rows

ALL = [
    pytest.param(loss, name, id=f"{name}: {loss.what}") for loss in LOSSES for name in loss.frames
]


@pytest.mark.parametrize(("loss", "name"), ALL)
def test_what_a_client_gets_nothing_of_is_counted(loss: Loss, name: str) -> None:
    frames = loss.frames[name]
    before = [*(OPENED[name] if loss.has_begun else ()), *frames[:-1]]

    assert becomes(name, before, frames[-1]) != "nothing"


@pytest.mark.parametrize("name", DIALECTS)
def test_the_examples_of_a_wire_are_those_of_a_turn_that_runs(name: str) -> None:
    shown = becomes(name, OPENED[name], TEXT[name])

    assert shown.endswith("`text-start` → `text-delta`")


def test_each_wire_is_in_the_table_and_each_kind_of_loss_has_a_row() -> None:
    told = list(rows())

    assert len(told) == len(LOSSES) >= 17
    for name in DIALECTS:
        assert sum(f"`{name}`: " in cells for _, cells, _ in told) >= 3
