"""An agent of pydantic-ai that a prompt tells what to do, and tools that are registered with us.

It runs in the environment of pydantic-ai, in a folder of its own: `asked.jsonl` has what its model
was sent, `ran.txt` the runs of tools. With the variable HOLD tools that hold do not end.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_ai import Agent as Assistant
from pydantic_ai import ModelRetry, RunContext, messages
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel

from turnwire_agent import Agent, Context, Effect, Media, Output, ToolFailed, tool
from turnwire_agent.drivers.pydantic_ai import PydanticAiAnswers

CANARY = "canary-of-an-exception"


async def model(sent: list[Any], info: AgentInfo) -> AsyncIterator[Any]:
    """Do what the last prompt says, then tell what the tools returned."""
    _note("asked.jsonl", messages.ModelMessagesTypeAdapter.dump_json(sent).decode())
    prompts = [part for each in sent for part in each.parts if part.part_kind == "user-prompt"]
    content = prompts[-1].content
    words = content if isinstance(content, str) else content[0]
    returned = [
        part for part in sent[-1].parts if part.part_kind in {"tool-return", "retry-prompt"}
    ]
    if any(part.part_kind == "user-prompt" for part in sent[-1].parts):
        returned = []  # of the turn before
    if returned and words.startswith("lose ") and _is_first():
        yield "It "
        raise ModelHTTPError(503, "fm", {"message": CANARY})
    if returned and not words.endswith(" for ever"):
        yield "It said: "
        yield "; ".join(_short(part) for part in returned)
        return
    match words.split(" "):
        case ["call", "own", "for", "ever"]:
            yield {0: DeltaToolCall("own", '{"what": "x"}', tool_call_id=f"c-{len(sent)}")}
        case ["call", *names]:
            yield "Let me "
            yield "see. "
            for index, name in enumerate(names):
                yield {index: DeltaToolCall(name, "", tool_call_id=f"c-{name}")}
                yield {index: DeltaToolCall(json_args='{"what": ')}
                yield {index: DeltaToolCall(json_args='"x"}')}
        case ["lose", name]:
            yield {0: DeltaToolCall(name, '{"what": "x"}', tool_call_id="c-lost")}
        case ["broken", name]:
            yield {0: DeltaToolCall(name, '{"what": ', tool_call_id="c-broken")}
        case ["think"]:
            yield {0: DeltaThinkingPart(content="Hm, ")}
            yield {0: DeltaThinkingPart(content="well.")}
            yield "Done."
        case ["long"]:
            for _ in range(2_000):
                yield "word "
                await asyncio.sleep(0.01)
        case ["fail" | "exit" as how]:
            yield "So "
            raise RuntimeError(CANARY) if how == "fail" else SystemExit(CANARY)
        case ["status", status]:
            raise ModelHTTPError(int(status), "fm", {"message": CANARY})
        case ["report", *pages]:
            (output,) = info.output_tools
            written = json.dumps({"title": "Cats", "pages": int(pages[0]) if pages else 3})
            yield {0: DeltaToolCall(output.name, written, tool_call_id="r")}
        case ["look", *_]:
            yield str([_kind(each) for each in content])
        case _:
            systems = [p for each in sent for p in each.parts if p.part_kind == "system-prompt"]
            yield f"{len(prompts)} prompts, {len(systems)} system, {info.instructions}"


def _short(part: Any) -> str:
    """What a tool returned, and how it went."""
    content = part.content
    if isinstance(content, list):
        content = [_kind(each) for each in content]
    outcome = getattr(part, "outcome", "retried")
    return f"{part.tool_name} {outcome}: {content}"


def _kind(part: Any) -> str:
    if not hasattr(part, "kind"):
        return str(part)
    return f"{part.media_type} {len(part.data)}" if part.kind == "binary" else part.url


def _is_first() -> bool:
    """Whether this was not asked before, by any process."""
    try:
        Path("lost").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _ran(name: str) -> None:
    _note("ran.txt", name)


def _note(file: str, line: str) -> None:
    with Path(file).open("a") as notes:
        notes.write(f"{line}\n")


async def _hold() -> None:
    if "HOLD" in os.environ:
        await asyncio.sleep(60)


@dataclass
class Report:
    """What a report is."""

    title: str
    pages: int

    def __post_init__(self) -> None:
        """End the process if there is nothing to read."""
        if not self.pages:
            sys.exit(self.title)


def finished(report: Report) -> Report:
    """End the process if there is little to read."""
    if report.pages == 1:
        sys.exit(report.title)
    return report


assistant = Assistant(
    FunctionModel(stream_function=model),
    name="fm",
    system_prompt="Be brief.",
    instructions="Be kind.",
    output_type=[str, finished],
    end_strategy="exhaustive",  # outputs have tasks of their own, too
    deps_type=str,
)


@assistant.tool_plain
def own(what: str) -> str:
    """Is the agent's own."""
    _ran("own")
    return f"own {what}"


@assistant.tool
def own_deps(context: RunContext[str], what: str) -> str:
    """Use what the run is given."""
    return f"{what} of {context.deps}"


@assistant.tool_plain
async def own_holds(what: str) -> str:
    """Take its time."""
    _ran("own_holds")
    await _hold()
    return f"held {what}"


@assistant.tool_plain
def own_raises(what: str) -> str:
    """Raise."""
    raise RuntimeError(CANARY + what)


@assistant.tool_plain
def own_exits(what: str) -> str:
    """End the process."""
    sys.exit(what)


@assistant.tool_plain
async def own_interrupts(what: str) -> str:
    """End the process, too."""
    raise KeyboardInterrupt(what)


def _exit(_: RunContext[str], what: str) -> None:
    sys.exit(what)


@assistant.tool_plain(args_validator=_exit)
def own_checks(what: str) -> str:
    """End the process before it runs."""
    return what


@assistant.tool_plain(retries=2)
def own_refuses(what: str) -> str:
    """Want other arguments."""
    raise ModelRetry(f"Not {what}.")


@assistant.tool_plain(requires_approval=True)
def own_asks(what: str) -> str:
    """Ask a person, which it cannot here."""
    return what


@tool(effect=Effect.SAFE)
def safe(what: str) -> str:
    """Only read."""
    _ran("safe")
    return f"read {what}"


@tool(effect=Effect.KEYED)
async def keyed(what: str, context: Context) -> str:
    """Pay, once for each key."""
    _ran(f"keyed {context.key}")
    await _hold()
    return f"paid {what}"


@tool
async def once(what: str) -> str:
    """Send."""
    _ran("once")
    await _hold()
    return f"sent {what}"


@tool(approval="always")
def mail(what: str) -> str:
    """Send mail."""
    _ran("mail")
    return f"mailed {what}"


@tool
def fails(what: str) -> str:
    """Fail."""
    raise ToolFailed(f"No paper for {what}.")


@tool
def picture(what: str) -> Output:
    """Draw."""
    return Output((what, Media("image/png", b"PNG")))


agent = Agent(
    answers=PydanticAiAnswers(assistant, deps="the shop"),
    tools=(safe, keyed, once, mail, fails, picture),
    instructions="Be honest.",
)
