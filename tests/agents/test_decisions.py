"""Approvals of LangChain's `HumanInTheLoopMiddleware`, before a real graph: none ends the chat."""

import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

from agents.deciding_langgraph import CHANGING, PER_CALL
from agents.spelled_langgraph import SPELLINGS
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

KEY: Final = "a key that signs approvals and nothing else"
NATIVE: Final[Mapping[str, str]] = {"x-turnwire-profile": "7"}
OPEN: Final = b'"state":"open"'
ONE, TWO = "delete notes.txt", "delete notes.txt and delete plan.txt"
BESIDE: Final = "6 * 7 and delete notes.txt"
"""It makes a call that needs no approval, too."""
YES: Final[Json] = {"approved": True}
NO: Final[Json] = {"approved": False, "reason": "Keep it"}
VERDICTS: Final[Sequence[Sequence[Json]]] = ([YES, NO], [NO, YES], [YES, YES], [NO, NO])
EDIT: Final = {"type": "edit", "edited_action": {"name": "delete_file", "args": {"path": "b.txt"}}}
DONE: Final = ("tool-output-available", "notes.txt is deleted")
PLAN_DONE: Final = ("tool-output-available", "plan.txt is deleted")
COMPUTED: Final = ("tool-output-available", "6 * 7 is 42")
NO_RESULT: Final = ("tool-output-error", "No result")
KEPT: Final = (
    "tool-output-error",
    "User rejected the tool call for `delete_file` with reason: Keep it",
)


class Deciding(FrameworkAgent):
    """The agent, with an endpoint for each spelling."""

    async def _serve(
        self, stack: AsyncExitStack, python: Path, _application: str, port: int
    ) -> None:
        tests = Path(__file__).parents[1]
        name = "agents.deciding_langgraph:application"
        command = (python, "-m", "uvicorn", name, "--factory", "--port", str(port))
        options = ("--app-dir", str(tests), "--log-level", "error")
        await self._run(stack, (*command, *options), name, port)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agent() -> AsyncIterator[Deciding]:
    FRAMEWORKS["langgraph"].python.exists() or lacking("langgraph is not installed: `make agents`")
    async with Deciding("langgraph") as agent:
        yield agent


def before(
    agent: Deciding, endpoint: str, turn_log: str = "memory", history: str = "agent"
) -> Gateway:
    return Gateway(
        f"{agent.url}{endpoint}",
        dialect="ag-ui",
        history=history,
        threads="chat",
        turn_log=turn_log,
        signing_keys=KEY,
    )


def prompt(text: str, chat_id: str, message_id: str = "m1") -> Json:
    """A body whose message has an id of its own: the adapter goes back to one that it knows."""
    parts = [{"type": "text", "text": text}]
    return ask(id=chat_id) | {"messages": [{"id": message_id, "role": "user", "parts": parts}]}


def asked_in(body: bytes | str) -> list[Json]:
    found = [each["data"] for each in chunks(body) if each["type"] == "data-question"]
    return [each for each in found if each["state"] == "open"]


def outcomes(body: bytes | str) -> dict[str, tuple[str, Any]]:
    """By call: the chunk with its outcome, and that outcome."""
    return {
        each["toolCallId"]: (each["type"], each.get("output", each.get("errorText")))
        for each in chunks(body)
        if each["type"].startswith("tool-output-")
    }


async def answer(gateway: Gateway, chat_id: str, asked: Json, given: Any) -> None:
    named = {key: asked[key] for key in ("questionId", "approvalId") if key in asked}
    answered = await call(gateway, "answer", named | {"answer": given}, params={"chatId": chat_id})
    assert answered.status_code == 202, answered.text


async def goes_on(gateway: Gateway, chat_id: str) -> None:
    """The chat takes the next prompt."""
    answered = await call(gateway, "chat", prompt("hello", chat_id, "m9"))
    assert (errors(answered.text), said(answered.text)[:6]) == ([], "Hello!")


async def test_each_call_gets_its_decision_beside_the_stream(agent: Deciding) -> None:
    for spelling in SPELLINGS:
        async with before(agent, spelling) as gateway:
            async with prompting(gateway, body=prompt(TWO, "both")) as chat:
                await until(lambda: len(asked_in(chat.body)) == 2)
                first, second = asked_in(chat.body)
                await answer(gateway, "both", second, NO)
                await answer(gateway, "both", first, given=True)
                body = await chat.end()
            await goes_on(gateway, "both")

        assert [each["kind"] for each in (first, second)] == ["approval"] * 2
        assert [each["args"]["path"] for each in (first, second)] == ["notes.txt", "plan.txt"]
        assert "Args: {'path': 'plan.txt'}" in second["text"]
        assert errors(body) == [], spelling
        assert outcomes(body) == {"call_1": DONE, "call_2": KEPT}


def decided(body: str, given: Sequence[Json]) -> Json:
    """The message that a client sends when all cards have an answer or an outcome."""
    requests = [each for each in chunks(body) if each["type"] == "tool-approval-request"]
    cards = {
        each["toolCallId"]: {
            "type": f"tool-{each['toolName']}",
            "toolCallId": each["toolCallId"],
            "input": each["input"],
            "providerExecuted": True,
        }
        for each in chunks(body)
        if each["type"] == "tool-input-available"
    }
    for call_id, (_, error) in outcomes(body).items():
        cards[call_id] |= {"state": "output-error", "errorText": error}
    for request, verdict in zip(requests, given, strict=True):
        approval = {"id": request["approvalId"], **verdict}
        cards[request["toolCallId"]] |= {"state": "approval-responded", "approval": approval}
    message_id = chunks(body)[0]["messageId"]
    return {
        "id": message_id,
        "role": "assistant",
        "parts": [{"type": "step-start"}, *cards.values()],
    }


@pytest.mark.parametrize("turn_log", ["memory", "off"])
async def test_each_call_is_approved_at_its_card(agent: Deciding, turn_log: str) -> None:
    for number, (spelling, given) in enumerate(itertools.product(SPELLINGS, VERDICTS)):
        chat_id = f"cards-{turn_log}-{number}"
        async with before(agent, spelling, turn_log) as gateway:
            asked = await call(gateway, "chat", prompt(TWO, chat_id), headers=NATIVE)
            message = decided(asked.text, given)
            body = {"id": chat_id, "messages": [message]}
            answered = await call(gateway, "chat", body, headers=NATIVE)
            await goes_on(gateway, chat_id)

        assert answered.status_code == 200, answered.text
        assert errors(answered.text) == []
        kinds = [kind for _, (kind, _) in sorted(outcomes(answered.text).items())]
        assert kinds == [DONE[0] if each is YES else KEPT[0] for each in given]


async def test_a_call_that_needs_no_approval_has_its_result_after_the_answer(
    agent: Deciding,
) -> None:
    """The graph runs none of its calls before that."""
    for number, spelling in enumerate(SPELLINGS):
        chat_id = f"beside-{number}"
        async with before(agent, spelling) as gateway:
            async with prompting(gateway, body=prompt(BESIDE, chat_id)) as chat:
                await until(lambda: OPEN in chat.body)
                (asked,) = asked_in(chat.body)
                assert outcomes(chat.body) == {"call_1": NO_RESULT}
                await answer(gateway, chat_id, asked, given=True)
                body = await chat.end()
            await goes_on(gateway, chat_id)

        assert asked["callId"] == "call_2"
        assert errors(body) == []
        assert outcomes(body) == {
            "call_1": COMPUTED,
            "call_2": DONE,
        }


@pytest.mark.parametrize("history", ["agent", "client"])
@pytest.mark.parametrize(
    ("text", "given", "decided_on"),
    [
        (BESIDE, [YES], {"call_2": DONE}),
        (BESIDE, [NO], {"call_2": KEPT}),
        (f"{BESIDE} and delete plan.txt", [NO, YES], {"call_2": KEPT, "call_3": PLAN_DONE}),
    ],
)
@pytest.mark.parametrize("turn_log", ["memory", "off"])
async def test_so_has_one_beside_a_call_that_is_decided_at_its_card(
    agent: Deciding, turn_log: str, text: str, given: Sequence[Json], decided_on: Json, history: str
) -> None:
    chat_id = f"beside-card-{turn_log}-{len(text)}-{given[0]['approved']}-{history}"
    async with before(agent, "both", turn_log, history) as gateway:
        first = prompt(text, chat_id)
        asked = await call(gateway, "chat", first, headers=NATIVE)
        body = {"id": chat_id, "messages": [*first["messages"], decided(asked.text, given)]}
        answered = await call(gateway, "chat", body, headers=NATIVE)
        await goes_on(gateway, chat_id)

    assert outcomes(asked.text) == {"call_1": NO_RESULT}
    assert errors(answered.text) == []
    assert outcomes(answered.text) == {"call_1": COMPUTED, **decided_on}
    assert not any("toolName" in each for each in chunks(answered.text))


@pytest.mark.parametrize(
    ("given", "chat_id", "is_done"),
    [
        ("approve", "yes", True),
        ("deny", "no", False),
        ({"decisions": [{"type": "approve"}]}, "decided", True),
        ({"decisions": [EDIT]}, "edited", False),
        ("what?", "unclear", False),
    ],
)
async def test_an_interrupt_whose_calls_are_of_an_earlier_turn_is_one_question(
    agent: Deciding, given: Any, chat_id: str, *, is_done: bool
) -> None:
    async with before(agent, "both") as gateway:
        async with prompting(gateway, body=prompt(ONE, chat_id)) as first:
            await until(lambda: OPEN in first.body)
        await until(lambda: not gateway.streams.open)
        async with prompting(gateway, body=prompt("hello", chat_id, "m2")) as second:
            await until(lambda: OPEN in second.body)
            (asked,) = asked_in(second.body)
            await answer(gateway, chat_id, asked, given)
            body = await second.end()
        await goes_on(gateway, chat_id)

    assert (asked["kind"], asked["options"]) == ("approval", ["approve", "deny"])
    assert asked["text"].startswith(f"{NOT_TAKEN}: Tool execution requires approval")
    assert errors(body) == []
    assert ("notes.txt is deleted" in said(body)) is is_done
    assert "b.txt" not in said(body)


async def test_an_interrupt_of_one_call_gets_one_decision(agent: Deciding) -> None:
    for given, outcome in ((True, DONE), (NO, KEPT)):
        chat_id = f"one-{outcome[0]}"
        async with before(agent, PER_CALL) as gateway:
            async with prompting(gateway, body=prompt(ONE, chat_id)) as chat:
                await until(lambda: OPEN in chat.body)
                (asked,) = asked_in(chat.body)
                await answer(gateway, chat_id, asked, given)
                body = await chat.end()
            await goes_on(gateway, chat_id)

        assert (asked["kind"], asked["callId"]) == ("approval", "call_1")
        assert outcomes(body) == {"call_1": outcome}


@pytest.mark.parametrize(
    ("decision", "cards"),
    [
        (
            {"type": "edit", "edited_action": {"name": "delete_file", "args": {"path": "b.txt"}}},
            {"call_2": NO_RESULT, "call_2#2": ("tool-output-available", "b.txt is deleted")},
        ),
        (
            {"type": "respond", "message": "I did it."},
            {"call_2": ("tool-output-available", "I did it.")},
        ),
    ],
)
async def test_a_call_that_its_user_changes_is_shown_as_it_ran(
    agent: Deciding, decision: Json, cards: Json
) -> None:
    chat_id = f"changed-{decision['type']}"
    async with before(agent, CHANGING) as gateway:
        async with prompting(gateway, body=prompt(BESIDE, chat_id)) as chat:
            await until(lambda: OPEN in chat.body)
            (asked,) = asked_in(chat.body)
            await answer(gateway, chat_id, asked, {"decisions": [decision]})
            body = await chat.end()
        await goes_on(gateway, chat_id)

    assert errors(body) == []
    assert outcomes(body) == {"call_1": COMPUTED, **cards}
    inputs = {
        each["toolCallId"]: each["input"]
        for each in chunks(body)
        if each["type"] == "tool-input-available"
    }
    assert inputs["call_2"] == {"path": "notes.txt"}
    assert inputs.get("call_2#2") == ({"path": "b.txt"} if "call_2#2" in cards else None)
    kinds = [each["type"] for each in chunks(body)]
    ends = len(kinds) - kinds[::-1].index("text-start")
    assert max(i for i, kind in enumerate(kinds) if kind.startswith("tool-output")) < ends
