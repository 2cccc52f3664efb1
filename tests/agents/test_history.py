"""Who keeps the conversation: nothing of it is lost on an agent, and nothing comes twice."""

import pytest

from agents.before import NEWEST, TESTED, converse, gateway_before, job, outline
from conformance.clients import Job, Message

pytestmark = [pytest.mark.node, pytest.mark.sockets]


def jobs(client: str) -> list[Job]:
    prompts = ("what is 12*7?", "hello", "what is 3*4?", "what is 5*6?")
    return [job(client, "four prompts", *({"send": prompt} for prompt in prompts))]


def calls(messages: list[Message]) -> list[str]:
    """The ids of all calls. The model numbers them: it counts those that it was sent."""
    parts = [part for message in messages for part in message.parts]
    return [part["toolCallId"].partition("#")[0] for part in parts if "toolCallId" in part]


@pytest.mark.parametrize("framework", TESTED)
async def test_a_model_is_sent_every_earlier_call_once(framework: str) -> None:
    """LangGraph keeps the conversation, so TURNWIRE_HISTORY is `agent` before it."""
    async with gateway_before(framework) as gateway:
        reports = await converse(gateway, jobs, [NEWEST])

    answers = reports[NEWEST].job("four prompts").answers
    assert [outline(message)[-1] for message in answers] == [
        "text: So: 12*7 is 84.",
        "text: Hello! I am a small agent, and no model is behind me.",
        "text: So: 3*4 is 12.",
        "text: So: 5*6 is 30.",
    ]
    assert calls(answers) == ["call_1", "call_2", "call_3"]
