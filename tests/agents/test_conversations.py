"""Conversations of clients, in the words of AG-UI, are taken by those who know the protocol."""

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.record import ask
from agents.scenarios import first_request
from gateway.needed import lacking
from support.client_messages import ASSISTANT, USER, converted
from turnwire.dialects.ag_ui.messages import write
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS

pytestmark = pytest.mark.sockets

Json: TypeAlias = Any

VALIDATING: Final = """
import json, sys
from ag_ui.core import RunAgentInput
for line in sys.stdin:
    told = {"threadId": "t", "runId": "r", "messages": json.loads(line)}
    run = RunAgentInput.model_validate(told)
    unknown = [message.model_extra for message in run.messages]
    again = json.loads(run.model_dump_json(by_alias=True))["messages"]
    print(json.dumps({"unknown": unknown, "again": again}), flush=True)
"""
"""Reads messages with the protocol's own models, and writes what they made of them."""


@pytest.fixture(scope="module")
def validate() -> Iterator[Callable[[Json], Json]]:
    python = FRAMEWORKS["pydantic-ai"].python
    python.exists() or lacking("pydantic-ai is not installed: `make tools` does it")
    with subprocess.Popen(
        [python, "-c", VALIDATING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def validated(messages: Json) -> Json:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(messages) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield validated
        process.kill()


def sent(messages: list[Json]) -> list[Json]:
    return [json.loads(one) for one in converted(messages, write).written]


@settings(max_examples=100, deadline=None, database=None)
@given(messages=st.lists(USER | ASSISTANT, max_size=6))
def test_the_protocols_own_models_take_what_is_written(
    validate: Callable[[Json], Json], messages: list[Json]
) -> None:
    told = sent(messages)
    taken = validate(told)

    assert taken["unknown"] == [{}] * len(told)
    assert taken["again"] == told


ALWAYS: Final = {"pydantic-ai", "langgraph"}
"""The agents that are part of `make test`."""


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def call(call_id: str, state: str, **more: Json) -> Json:
    fields = {"toolCallId": call_id, "input": {"expression": "12*7"}, "state": state}
    return {"type": "tool-calculator", **fields, **more}


CONVERSATION: Final[list[Json]] = [
    {"id": "u1", "role": "user", "parts": [text("what is 12*7?")]},
    {
        "id": "a1",
        "role": "assistant",
        "parts": [
            {"type": "reasoning", "text": "Hm."},
            text("Let me see."),
            call("c1", "output-available", output={"result": 84}),
            call("c2", "output-available", output="84"),
            text("And again."),
            call("c3", "output-error", errorText="division by zero"),
            {"type": "step-start"},
            call("c4", "output-denied"),
            call("c5", "input-available"),
            text("It is 84."),
            text("Really."),
        ],
    },
    {"id": "a2", "role": "assistant", "parts": [call("c6", "input-streaming", input='{"exp')]},
    {"id": "u2", "role": "user", "parts": [text("hello")]},
]
"""With every kind of outcome, and a turn that was cut in the middle of a call."""


@pytest.mark.parametrize("framework", list(FRAMEWORKS))
async def test_an_agent_answers_after_all_that_a_conversation_may_hold(framework: str) -> None:
    if not FRAMEWORKS[framework].python.exists():
        lack = lacking if framework in ALWAYS else pytest.skip
        lack(f"{framework} is not installed: `make agents` does it")
    request = first_request("text", "")
    async with FrameworkAgent(framework) as agent:
        answered = await ask(agent.url, {**request, "messages": sent(CONVERSATION)})

    assert answered["status"] == 200
    assert "RUN_ERROR" not in answered["body"], answered["body"]
    assert "RUN_FINISHED" in answered["body"]
    assert '"small "' in answered["body"]  # a word of its answer to a greeting
