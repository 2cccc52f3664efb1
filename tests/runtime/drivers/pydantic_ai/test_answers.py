"""What people see of an agent of pydantic-ai: its text, its tools and ours, stops, failures."""

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from runtime.cli.serve_process import Served, ended
from runtime.drivers.model_agent import results
from runtime.drivers.pydantic_ai import served as serve
from runtime.host.hosted import Frame, words

pytestmark = [pytest.mark.sockets, pytest.mark.asyncio(loop_scope="module")]

QUIET: Final = {"canary-of-an-exception", "traceback"}


@dataclass(frozen=True)
class Running:
    """The agent, and the folder where it writes."""

    served: Served
    folder: Path


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    folder = tmp_path_factory.mktemp("assistant")
    async with serve.assistant(folder, holds=True) as served:
        yield Running(served, folder)
        code, log = await served.stop()
    assert code == 0
    assert not [word for word in QUIET if word in log.lower()], log


def last(frames: list[Frame]) -> Frame:
    return [each for each in frames if each["type"] == "message.finalize"][-1]


@pytest.mark.kept(
    "text, reasoning",
    "streamed. Kept when the answer is whole",
)
async def test_text_reasoning_and_usage(running: Running) -> None:
    async with running.served.socket("text") as gateway:
        frames = await gateway.turn("think")

    reasoning = [each["delta"] for each in frames if each["type"].endswith("reasoning-delta")]
    assert "".join(reasoning) == "Hm, well."
    assert words(frames) == "Done."
    assert last(frames)["finishReason"] == "stop"
    assert last(frames)["usage"]["outputTokens"] > 0


@pytest.mark.kept(
    "tools of its own",
    "shown, with inputs and results. They run inside of the answer, without a policy",
)
async def test_a_tool_of_its_own(running: Running) -> None:
    async with running.served.socket("own") as gateway:
        frames = await gateway.turn("call own")

    (call_id,) = results(frames)
    assert results(frames) == {call_id: "own x"}
    assert words(frames) == "Let me see. It said: own success: own x"
    tools = [each for each in frames if each["type"] == "message.part.tool-update"]
    assert [each["status"] for each in tools] == ["pending", "running", "completed"]
    assert tools[1]["args"] == {"what": "x"}


@pytest.mark.parametrize("name", ["safe", "mail"])
async def test_a_registered_tool_beside_one_of_its_own(running: Running, name: str) -> None:
    async with running.served.socket(f"both-{name}") as gateway:
        await gateway.ask(f"call own {name}")
        if name == "mail":
            asked = await gateway.until("question")
            await gateway.send("answer", questionId=asked["questionId"], answer=True)
        frames = await gateway.rest()
        again = await gateway.turn("What?", "p2")

    assert len(results(gateway.seen)) == 2
    text = words(frames)
    assert "own success: own x" in text
    assert f"{name} success: " in text
    assert words(again).startswith("2 prompts, 1 system")


@pytest.mark.kept(
    "approval of a registered tool",
    "a question in the chat. The agent gets the denial as the result",
)
async def test_a_call_that_a_person_denies(running: Running) -> None:
    before = serve.runs(running.folder)
    async with running.served.socket("denied") as gateway:
        await gateway.ask("call mail")
        asked = await gateway.until("question")
        await gateway.send("answer", questionId=asked["questionId"], answer=False)
        frames = await gateway.rest()

    assert "mail success: A person denied this call. It did not run." in words(frames)
    assert serve.runs(running.folder) == before


async def test_a_registered_tool_that_fails(running: Running) -> None:
    async with running.served.socket("fails") as gateway:
        frames = await gateway.turn("call fails")

    assert results(frames) == {"c-fails": "No paper for x."}
    assert "fails failed: This call failed.\nNo paper for x." in words(frames)


@pytest.mark.kept(
    "pictures that registered tools return",
    "reach the model",
)
async def test_a_picture_that_a_tool_returns(running: Running) -> None:
    async with running.served.socket("picture") as gateway:
        frames = await gateway.turn("call picture")

    assert "picture success: ['x', 'image/png 3']" in words(frames)


@pytest.mark.kept(
    "files in a prompt",
    "reach the model, as bytes or by their URL",
)
async def test_pictures_in_a_prompt(running: Running) -> None:
    data = base64.b64encode(b"PNG").decode()
    attachments = [
        {"mime": "image/png", "url": f"data:image/png;base64,{data}", "filename": "a.png"},
        {"mime": "image/png", "url": "https://a.example/b.png"},
        {"mime": "application/pdf", "url": "https://a.example/c.pdf"},
    ]
    async with running.served.socket("pictures") as gateway:
        frames = await gateway.turn("look here", attachments=attachments)

    assert words(frames) == str(
        [
            "look here",
            "image/png 3",
            "https://a.example/b.png",
            "https://a.example/c.pdf",
        ]
    )


@pytest.mark.kept(
    "structured output",
    "shown as JSON when it is whole. Kept in the messages",
)
async def test_an_output_that_is_no_text_is_shown_as_json(running: Running) -> None:
    async with running.served.socket("report") as gateway:
        frames = await gateway.turn("report")
        again = await gateway.turn("And?", "p2")

    assert words(frames) == '{"title":"Cats","pages":3}'
    assert not [each for each in frames if each["type"] == "message.part.tool-update"]
    assert last(frames)["finishReason"] == "stop"
    assert words(again).startswith("2 prompts")


@pytest.mark.kept(
    "output validators",
    "run, if no tool is registered: with one, pydantic-ai refuses the run, and the turn ends",
)
async def test_a_validator_of_outputs(tmp_path: Path) -> None:
    module = "runtime.drivers.pydantic_ai.validated"
    async with serve.assistant(tmp_path, module=module) as served:
        async with served.socket("validated") as gateway:
            frames = await gateway.turn("Hi")
        await served.stop()

    assert words(frames).endswith("hello")
    assert last(frames)["finishReason"] == "stop"


@pytest.mark.kept(
    "instructions",
    "the agent's own and those of the settings, as the running process has them. A system prompt is"
    " kept",
)
async def test_its_instructions_and_ours(running: Running) -> None:
    async with running.served.socket("instructions") as gateway:
        text = words(await gateway.turn("Who?"))

    assert "1 prompts, 1 system" in text
    assert "Be kind." in text
    assert "Be honest." in text


@pytest.mark.kept(
    "a stop in the text",
    "the answer is not kept, its prompt is",
)
async def test_a_stop_in_the_text_and_the_next_prompt(running: Running) -> None:
    async with running.served.socket("stop-text") as gateway:
        await gateway.ask("long")
        begun = await gateway.until("message.part.text-delta")
        await gateway.send("abort", turnId=begun["turnId"])
        stopped = await gateway.rest()
        again = await gateway.turn("And now?", "p2")

    assert last(stopped)["reason"] == "canceled"
    # Its system prompt too, though the turn that would have begun with it was lost.
    assert words(again).startswith("2 prompts, 1 system")


@pytest.mark.kept(
    "a stop in a tool",
    "the agent reads that nobody knows what a registered tool did. It forgets the calls of its"
    " own tools",
)
@pytest.mark.parametrize("name", ["once", "own_holds"])
async def test_a_stop_in_a_tool_and_the_next_prompt(running: Running, name: str) -> None:
    async with running.served.socket(f"stop-{name}") as gateway:
        await gateway.ask(f"call {name}")
        begun = await gateway.until("message.part.tool-update", status="running")
        while name not in serve.runs(running.folder):
            await gateway.connection.ping()
        await gateway.send("abort", turnId=begun["turnId"])
        stopped = await gateway.rest()
        again = await gateway.turn("And now?", "p2")

    assert last(stopped)["reason"] == "canceled"
    assert words(again).startswith("2 prompts, 1 system")


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        pytest.param(
            *("fail", None),
            marks=pytest.mark.kept("an exception of the agent", "the turn ends with a fixed text"),
        ),
        ("call own_raises", None),
        ("call own_exits", None),
        ("call own_interrupts own", None),
        ("call own_checks", None),
        ("report 0", None),
        ("report 1", None),
        ("exit", None),
        pytest.param(
            *("call own_asks", None),
            marks=pytest.mark.kept(
                "approval of a tool of its own",
                "none: the turn ends as an error. Register the tool",
            ),
        ),
        ("status 401", "The model cannot be asked: its set-up is not right."),
        ("status 413", "The conversation holds more than can be sent to the model."),
        ("status 503", "The model is overloaded at the moment. Try again later."),
    ],
)
async def test_failures_have_fixed_words(running: Running, prompt: str, text: str | None) -> None:
    async with running.served.socket(prompt.replace(" ", "-")) as gateway:
        frames = await gateway.turn(prompt)
        again = await gateway.turn("And now?", "p2")

    assert last(frames)["reason"] == "error"
    assert last(frames)["error"].startswith(text or "The agent")
    assert "canary" not in str(frames)
    assert words(again).startswith("2 prompts, 1 system")


@pytest.mark.kept(
    "tools of its own, when the connection of its model breaks",
    "the answer is taken back and given again: they run again",
)
async def test_an_answer_that_broke_off_is_taken_back_and_given_again(running: Running) -> None:
    before = serve.runs(running.folder)
    async with running.served.socket("lost") as gateway:
        frames = await gateway.turn("lose own")

    kinds = [each["type"] for each in frames]
    assert kinds.count("message.part.retract") == 1
    again = frames[kinds.index("message.part.retract") :]
    assert words(again) == "It said: own success: own x"
    # A tool of its own has run for both.
    assert serve.runs(running.folder) == [*before, "own", "own"]


@pytest.mark.kept(
    "`ModelRetry` of a tool of its own",
    "a failed call, and the agent tries again in the same answer",
)
async def test_a_tool_of_its_own_that_wants_other_arguments(running: Running) -> None:
    async with running.served.socket("refuses") as gateway:
        frames = await gateway.turn("call own_refuses")

    assert list(results(frames).values()) == ["The tool failed."]
    assert words(frames).startswith("Let me see. It said: own_refuses retried: Not x.")


@pytest.mark.kept("`deps`", "one object for all runs of a process. Nothing of it is kept")
async def test_deps(running: Running) -> None:
    async with running.served.socket("deps") as gateway:
        frames = await gateway.turn("call own_deps")

    assert words(frames).endswith("own_deps success: x of the shop")


@pytest.mark.kept(
    "limits of usage",
    "counted in each answer anew, and not over a turn. Beyond them the turn ends as an error",
)
async def test_limits_of_usage_end_the_turn(running: Running) -> None:
    async with running.served.socket("limits") as gateway:
        frames = await gateway.turn("call own for ever")
        again = await gateway.turn("And now?", "p2")

    assert last(frames)["error"] == "What may be used of the model is used up."
    assert words(again).startswith("2 prompts, 1 system")


@pytest.mark.parametrize("name", ["own", "safe"])
async def test_arguments_that_are_no_json(running: Running, name: str) -> None:
    async with running.served.socket(f"broken-{name}") as gateway:
        frames = await gateway.turn(f"broken {name}")
        again = await gateway.turn("And now?", "p2")

    assert last(frames)["reason"] == "end_turn"
    assert words(again).startswith("2 prompts")
    async with running.served.socket(f"broken-{name}") as later:
        assert later.seen[0]["type"] == "init"


async def test_without_pydantic_ai_one_line_says_so(tmp_path: Path) -> None:
    module = "runtime.drivers.pydantic_ai.bare:agent"
    code, out, errors = await ended("serve", module, folder=tmp_path)

    assert (code, out) == (2, "")
    assert errors.splitlines()[-1].endswith(
        "an agent of pydantic-ai needs pip install 'turnwire-agent[pydantic-ai]'"
    )
    assert "Traceback" not in errors
