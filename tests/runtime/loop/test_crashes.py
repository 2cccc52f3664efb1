"""A turn ends well wherever its process dies: at a write, or between an effect and its write."""

from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.loop.promises import keeps
from runtime.loop.scenarios import SCENARIOS, Scenario
from turnwire_agent.loop import words


@given(SCENARIOS)
@settings(max_examples=150, deadline=None)
def test_a_turn_keeps_its_promises(scenario: Scenario) -> None:
    keeps(scenario.machine().run())


@given(SCENARIOS)
@settings(max_examples=40, deadline=None)
def test_a_turn_keeps_its_promises_wherever_its_process_dies(scenario: Scenario) -> None:
    boundaries = scenario.machine().run().boundaries
    for boundary in range(boundaries):
        keeps(scenario.machine(deaths=[boundary]).run())


@given(SCENARIOS, st.integers(0, 20), st.sampled_from([1, 2, 3, 5]))
@settings(max_examples=150, deadline=None)
def test_a_turn_whose_processes_die_again_and_again_ends(
    scenario: Scenario, first: int, every: int
) -> None:
    machine = scenario.machine(deaths=range(first, 10_000, every)).run()

    keeps(machine)
    if first == 0 and every == 1 and scenario.tick_s == 0:
        assert machine.end
        assert machine.end.error == words.TAKEN_OVER
