"""What is recorded of the agents of examples/agents, and that two of them still say it."""

import json
from functools import partial

import pytest

from agents.normal import Normal, results_in_order
from agents.record import GOLDEN, MOST_BYTES, ask
from agents.scenarios import BAD_BODY, FOLLOWED, PROMPTS, applies, first_request
from gateway.needed import lacking
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS

BODIES = sorted(GOLDEN.glob("*.body"))


def test_every_agent_is_recorded_in_every_scenario_that_it_has() -> None:
    expected = {
        f"{framework}-{scenario}"
        for framework in FRAMEWORKS
        for scenario in (*PROMPTS, *FOLLOWED, BAD_BODY)
        if applies(framework, scenario)
    }

    assert {path.stem for path in BODIES} == expected
    assert {path.stem for path in GOLDEN.glob("*.json")} == expected
    assert all(path.stat().st_size <= MOST_BYTES for path in BODIES)


def test_a_recording_holds_nothing_of_the_machine_that_made_it() -> None:
    for path in BODIES:
        text = path.read_text(encoding="utf-8")

        assert Normal().text(text) == text, path.name


def test_the_order_in_which_tools_are_done_is_no_part_of_a_recording() -> None:
    recorded = (GOLDEN / "pydantic-ai-tools.body").read_text(encoding="utf-8")
    frames = recorded.split("\n\n")
    first = next(at for at, each in enumerate(frames) if "TOOL_CALL_RESULT" in each)
    frames[first], frames[first + 1] = frames[first + 1], frames[first]
    other = "\n\n".join(frames)
    assert other != recorded

    assert results_in_order(other) == results_in_order(recorded) == recorded


@pytest.mark.sockets
@pytest.mark.parametrize("framework", ["pydantic-ai", "langgraph"])
async def test_an_agent_says_what_was_recorded(framework: str) -> None:
    FRAMEWORKS[framework].python.exists() or lacking(f"{framework} is not installed: `make agents`")
    async with FrameworkAgent(framework) as agent:
        for scenario in filter(partial(applies, framework), PROMPTS):
            recorded = (GOLDEN / f"{framework}-{scenario}.body").read_text(encoding="utf-8")
            about = json.loads((GOLDEN / f"{framework}-{scenario}.json").read_text())

            answered = await ask(agent.url, first_request(scenario, PROMPTS[scenario]))

            assert Normal().text(results_in_order(answered["body"])) == recorded, scenario
            assert answered["status"] == about["status"]
