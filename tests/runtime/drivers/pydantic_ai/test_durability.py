"""What becomes of the turns of an agent of pydantic-ai when its process dies: one story."""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

from runtime.cli.serve_process import Served
from runtime.drivers.model_agent import results
from runtime.drivers.pydantic_ai import served as serve
from runtime.host.hosted import Frame, words

pytestmark = [pytest.mark.sockets, pytest.mark.asyncio(loop_scope="module")]

HELD: Final = ("keyed", "once", "own_holds")
PROMPTS: Final = ("call own safe", "think", "call mail")


class Story:
    """What people saw before the process died, and of the next one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before: dict[str, list[Frame]] = {}
        """By session."""
        self.after: dict[str, list[Frame]] = {}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def story(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Story]:
    kept = Story(tmp_path_factory.mktemp("story"))
    async with serve.assistant(kept.folder, holds=True) as first:
        await asyncio.gather(*(_begins(kept, first, name) for name in (*HELD, "talk")))
        await _held(kept.folder)
        await first.stop(signal.SIGKILL)
    async with serve.assistant(kept.folder) as second:
        await asyncio.gather(*(_ends(kept, second, name) for name in (*HELD, "talk")))
        await second.stop()
    yield kept


async def _held(folder: Path) -> None:
    """Until each tool that holds runs."""
    while not {each.partition(" ")[0] for each in serve.runs(folder)}.issuperset(HELD):  # noqa: ASYNC110
        await asyncio.sleep(0.02)  # another process writes that


async def _begins(kept: Story, served: Served, session: str) -> None:
    """Talk up to where the process will die: in a tool, or in a question."""
    async with served.socket(session) as gateway:
        if session == "talk":
            for number, prompt in enumerate(PROMPTS[:-1]):
                await gateway.turn(prompt, f"p{number}")
            await gateway.ask(PROMPTS[-1], "last")
            await gateway.until("question")
        else:
            await gateway.ask(f"call {session}", "last")
            await gateway.until("message.part.tool-update", status="running")
        kept.before[session] = gateway.seen


async def _ends(kept: Story, served: Served, session: str) -> None:
    async with served.socket(session) as gateway:
        if session == "talk":
            asked = kept.before[session][-1]
            await gateway.send("answer", questionId=asked["questionId"], answer=True)
        await gateway.rest("last")
        await gateway.turn("And now?", "next")
        kept.after[session] = gateway.seen


@pytest.mark.kept(
    "a `keyed` registered tool, when the process dies",
    "runs again, with its key",
)
async def test_a_keyed_tool_runs_again_with_its_key(story: Story) -> None:
    first, again = (each for each in serve.runs(story.folder) if each.startswith("keyed "))

    assert first == again
    assert results(story.after["keyed"]) == {"c-keyed": "paid x"}
    assert "keyed success: paid x" in words(story.after["keyed"])


@pytest.mark.kept(
    "a `once` registered tool, when the process dies",
    "is not run again. The agent gets as its result that nobody knows",
)
async def test_a_tool_that_runs_once_does_not_run_again(story: Story) -> None:
    assert serve.runs(story.folder).count("once") == 1
    assert "It is not known whether this call ran." in words(story.after["once"])


@pytest.mark.kept(
    "a tool of its own, when the process dies",
    "runs again, with the whole answer. What was shown of it is taken back",
)
async def test_a_tool_of_its_own_runs_again_and_its_first_run_is_taken_back(story: Story) -> None:
    frames = story.after["own_holds"]

    assert serve.runs(story.folder).count("own_holds") == 2
    (taken_back,) = (each for each in frames if each["type"] == "message.part.retract")
    assert taken_back["since"] == 0
    assert list(results(frames).values()) == ["held x"]
    assert words(frames).startswith("Let me see. It said: own_holds success: held x")


@pytest.mark.kept(
    "an approval, when the process dies",
    "is answered in any process, and runs there",
)
async def test_a_call_is_allowed_after_the_process_that_asked_died(story: Story) -> None:
    assert serve.runs(story.folder).count("mail") == 1
    assert results(story.after["talk"]) == {"c-mail": "mailed x"}


async def test_each_turn_is_the_same_one_and_the_next_prompt_works(story: Story) -> None:
    for session, frames in story.after.items():
        turns = {each["turnId"] for each in frames if each.get("promptId") == "last"} - {None}
        assert turns <= {each.get("turnId") for each in story.before[session]}
        ends = [each for each in frames if each["type"] == "message.finalize"]
        assert [each["reason"] for each in ends] == ["end_turn"] * 2
    assert "4 prompts, 1 system" in words(story.after["talk"])


@pytest.mark.kept(
    "the history of messages",
    "what the agent gave, unchanged, in any process: reasoning, calls and results too",
)
async def test_the_agent_gets_back_the_messages_that_it_gave(story: Story) -> None:
    sent = [each for each in serve.asked(story.folder) if _first_prompt(each) == PROMPTS[0]]

    # Turns with tools need two: 2 + 1 + 2 + 1.
    assert len(sent) == 6
    for earlier, later in pairwise(sent):
        assert later[: len(earlier)] == earlier
    kinds = [part["part_kind"] for message in sent[-1] for part in message["parts"]]
    assert kinds.count("thinking") == 1
    assert kinds.count("tool-call") == kinds.count("tool-return") == 3


def _first_prompt(messages: Sequence[Any]) -> str:
    return str(
        next(part["content"] for part in messages[0]["parts"] if part["part_kind"] == "user-prompt")
    )
