"""A turn over several connections: the example passes the suite, which finds what loses a text."""

from unittest import SkipTest

import pytest

from testing import reconnecting_dialects as r
from testing.minimal_suite import MinimalSuite
from turnwire.testing import failures
from turnwire.testing.scripts import SCRIPTS


def test_the_example_passes_the_suite() -> None:
    assert list(failures(r.ReconnectingSuite(r.example.Turn))) == []


@pytest.mark.parametrize("fault", r.FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    turn, why = r.FAULTS[fault]

    found = {name: f"{exc!r}" for name, exc in failures(r.ReconnectingSuite(turn), {r.TEST})}

    assert why in found[r.TEST]


def test_a_wire_of_one_connection_is_not_asked() -> None:
    with pytest.raises(SkipTest, match="reconnected"):
        MinimalSuite().test_a_connection_may_be_lost_after_each_frame(SCRIPTS["text"])
