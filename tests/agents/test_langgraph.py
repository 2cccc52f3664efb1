"""What docs/frameworks.md says of LangGraph alone, with a real graph: inputs, stops, approvals."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

from agents.langgraph_variants import CALLS_VARIABLE, QUESTIONS
from gateway.asking_agent import call, prompting
from gateway.clients import Json, ask, chunks, errors, said
from gateway.needed import lacking
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.dialects.ag_ui.turn import NOT_TAKEN
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS

pytestmark = [
    pytest.mark.sockets,
    pytest.mark.timeout(120),
    pytest.mark.asyncio(loop_scope="module"),
]

AT_ONCE: Final = "call at once: what is 12*7?"
OPEN: Final = b'"state":"open"'


class Variants(FrameworkAgent):
    """The agent, with an endpoint for each variant."""

    def __init__(self, calls: Path) -> None:
        super().__init__("langgraph")
        self.calls = calls
        self._environ[CALLS_VARIABLE] = str(calls)

    async def _serve(
        self, stack: AsyncExitStack, python: Path, _application: str, port: int
    ) -> None:
        folder = Path(__file__).parent
        options = ("--app-dir", str(folder), "--factory", "--log-level", "error")
        name = "langgraph_variants:application"
        await self._run(
            stack, (python, "-m", "uvicorn", name, "--port", str(port), *options), name, port
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agent(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Variants]:
    FRAMEWORKS["langgraph"].python.exists() or lacking("langgraph is not installed: `make agents`")
    async with Variants(tmp_path_factory.mktemp("calls")) as agent:
        yield agent


def before(agent: Variants, variant: str) -> Gateway:
    return Gateway(f"{agent.url}{variant}", dialect="ag-ui", history="agent", threads="chat")


def prompt(text: str, chat_id: str, message_id: str) -> Json:
    """A body whose message has an id of its own: the adapter goes back to one that it knows."""
    parts = [{"type": "text", "text": text}]
    return ask(id=chat_id) | {"messages": [{"id": message_id, "role": "user", "parts": parts}]}


def questions(body: bytes) -> list[Json]:
    return [each["data"] for each in chunks(body) if each["type"] == "data-question"]


def inputs(body: bytes | str) -> list[Any]:
    return [each["input"] for each in chunks(body) if each["type"] == "tool-input-available"]


@pytest.mark.parametrize(("variant", "shown"), [("quiet", {}), ("shown", {"expression": "12*7"})])
async def test_an_input_in_one_piece_needs_a_state_behind_the_model(
    agent: Variants, variant: str, shown: Json
) -> None:
    async with before(agent, variant) as gateway:
        answer = await call(gateway, "chat", prompt(AT_ONCE, variant, "m1"))

    assert inputs(answer.text) == [shown]
    assert said(answer.text) == "Let me see. So: 12*7 is 84."


async def test_a_failed_tool_is_shown_as_failed_without_the_frameworks_events(
    agent: Variants,
) -> None:
    async with before(agent, "quiet") as gateway:
        answer = await call(gateway, "chat", prompt("make the tool fail", "failed", "m1"))

    failed = [each["errorText"] for each in chunks(answer.text) if "errorText" in each]
    assert failed == ["calculator: float division by zero"]


async def test_an_approval_shows_its_input_without_the_frameworks_events(agent: Variants) -> None:
    async with before(agent, "quiet") as gateway:
        body = prompt("call at once: delete notes.txt", "approval", "m1")
        async with prompting(gateway, body=body) as chat:
            await until(lambda: OPEN in chat.body)
            assert inputs(chat.body) == [{"path": "notes.txt"}]


@pytest.mark.parametrize(
    ("variant", "failures"), [("slow", []), ("unsettled", ["a call has no result"])]
)
async def test_a_stop_within_a_tool_leaves_a_call_that_the_author_settles(
    agent: Variants, variant: str, failures: list[str]
) -> None:
    chat_id, where = f"stopped-{variant}", {"chatId": f"stopped-{variant}"}
    running = agent.calls / variant
    async with before(agent, variant) as gateway:
        async with prompting(gateway, body=prompt("what is 12*7?", chat_id, "m1")) as chat:
            await until(lambda: b"tool-input-available" in chat.body and running.exists())
            stopped = await call(gateway, "stop", {}, params=where)
            assert chunks(await chat.end())[-1]["type"] == "finish"
        # Its node ends with it, within fewer rounds of the loop than the next request takes.
        await until(lambda: not running.exists())
        answer = await call(gateway, "chat", prompt("hello", chat_id, "m2"))

    assert stopped.status_code == 200
    assert errors(answer.text) == failures
    assert said(answer.text).startswith("Hello!") == (not failures)


async def test_a_stop_closes_no_interrupt_of_a_graph(agent: Variants) -> None:
    chat_id, where = "interrupted", {"chatId": "interrupted"}
    async with before(agent, "quiet") as gateway:
        async with prompting(gateway, body=prompt("delete notes.txt", chat_id, "m1")) as first:
            await until(lambda: OPEN in first.body)
            stopped = await call(gateway, "stop", {}, params=where)
            await first.end()
        async with prompting(gateway, body=prompt("hello", chat_id, "m2")) as second:
            await until(lambda: OPEN in second.body)
            asked = [
                each["data"] for each in chunks(second.body) if each["type"] == "data-question"
            ]
            answer = {"questionId": asked[0]["questionId"], "answer": {"approved": False}}
            answered = await call(gateway, "answer", answer, params=where)
            await second.end()
        third = await call(gateway, "chat", prompt("hello", chat_id, "m3"))

    assert stopped.status_code == 200
    assert [each["text"] for each in asked] == [f"{NOT_TAKEN}: Delete notes.txt?"]
    assert answered.status_code == 202
    assert said(third.text).startswith("Hello!")


@pytest.mark.parametrize(
    ("variant", "kind", "answer", "returned"),
    [
        ("asks-in-words", None, "Yes, pay", "Yes, pay"),
        ("asks-by-call", None, "yes", "yes"),
        ("asks-for-approval", "approval", True, "{'approved': True}"),
        ("asks-for-approval", "approval", False, "{'approved': False}"),
    ],
)
async def test_an_interrupt_is_an_approval_by_its_reason_alone(
    agent: Variants, variant: str, kind: str | None, answer: object, returned: str
) -> None:
    chat_id = f"{variant}-{answer}"
    async with (
        before(agent, variant) as gateway,
        prompting(gateway, body=prompt("delete notes.txt", chat_id, "m1")) as chat,
    ):
        await until(lambda: OPEN in chat.body)
        (asked,) = questions(chat.body)
        given = {"questionId": asked["questionId"], "answer": answer}
        await call(gateway, "answer", given, params={"chatId": chat_id})
        body = await chat.end()

    assert (asked["text"], asked.get("kind"), "options" in asked) == ("Pay?", kind, False)
    assert asked["value"] == QUESTIONS[variant]
    outputs = [each["output"] for each in chunks(body) if each["type"] == "tool-output-available"]
    assert outputs == [f"notes.txt: {returned}"]


async def test_a_graph_without_a_checkpointer_answers_nothing(agent: Variants) -> None:
    async with before(agent, "stateless") as gateway:
        answer = await call(gateway, "chat", prompt("hello", "stateless", "m1"))

    assert errors(answer.text) == ["No checkpointer set"]
