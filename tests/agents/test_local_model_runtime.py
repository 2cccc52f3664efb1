"""The agent runtime before a real model on this machine, by llama.cpp: three wires, without a key.

It says what it likes. What is tried is what a mock does not have: real pieces of text, real
figures of usage, and a real limit of context.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Final

import pytest

from support.shell import run
from turnwire_agent.llm.answer import Answer
from turnwire_agent.llm.call.stream import stream
from turnwire_agent.llm.credentials.api_key import NoKey
from turnwire_agent.llm.events import Begun, Event, Finish, TextDelta
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.model import Model, Quirks, ShapeName
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.transcript import Message, Text, User
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import LOCAL_MODEL, OTHER_AGENTS
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets

ROOT: Final = Path(__file__).parents[2]
PAGE_BLOCK: Final = re.compile(r"<!-- local-model: (.+?) -->\n```sh\n(.*?)```", re.DOTALL)
SHAPES: Final[tuple[ShapeName, ...]] = ("chat", "responses", "messages")


@pytest.fixture
async def server() -> AsyncIterator[FrameworkAgent]:
    if not OTHER_AGENTS[LOCAL_MODEL].python.exists():
        pytest.skip("the weights are installed by `make agents`")
    async with FrameworkAgent(LOCAL_MODEL) as server:
        yield server


def local(server: FrameworkAgent, shape: ShapeName) -> Model:
    quirks = Quirks(max_tokens_field="max_tokens", thinking="none", sampling=True)
    return Model(provider="local", name="smollm2", shape=shape, base_url=server.url, quirks=quirks)


async def asked(model: Model, *messages: Message, max_tokens: int = 24) -> list[Event]:
    request = Request(transcript=messages, max_tokens=max_tokens, temperature=0.0)
    async with aclosing(stream(model, request, NoKey())) as events:
        return [event async for event in events]


def says(text: str) -> User:
    return User((Text(text),))


@pytest.mark.parametrize("shape", SHAPES)
async def test_it_answers_and_is_asked_again(server: FrameworkAgent, shape: ShapeName) -> None:
    model = local(server, shape)
    hello = says("Say hello in one short sentence.")
    first = await asked(model, hello)
    answer = Answer(model)
    for event in first:
        answer.add(event)

    assert isinstance(first[0], Begun)
    assert isinstance(first[-1], Finish)
    assert len([event for event in first if isinstance(event, TextDelta)]) > 2
    usage = first[-1].usage
    assert usage.input
    assert usage.output
    message = answer.message()
    assert message
    assert message.native
    second = await asked(model, hello, message, says("And again."))
    assert isinstance(second[-1], Finish)


# On Responses this server calls a cut answer `completed`.
@pytest.mark.parametrize(
    ("shape", "reason"), [("chat", "length"), ("messages", "length"), ("responses", "stop")]
)
async def test_an_answer_that_is_cut_says_so(
    server: FrameworkAgent, shape: ShapeName, reason: str
) -> None:
    events = await asked(local(server, shape), says("Tell me a long story."), max_tokens=5)

    assert isinstance(events[-1], Finish)
    assert (events[-1].reason, events[-1].usage.output) == (reason, 5)


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_prompt_that_is_too_long_is_known_as_such(
    server: FrameworkAgent, shape: ShapeName
) -> None:
    (fault,) = await asked(local(server, shape), says("word " * 20_000))

    assert isinstance(fault, Fault)
    assert fault.kind == "context-overflow"


@pytest.mark.parametrize("shape", SHAPES)
async def test_the_commands_need_no_key(server: FrameworkAgent, shape: ShapeName) -> None:
    where = ("--model", "local:smollm2", "--base-url", server.url, "--shape", shape)
    for command in (("try", *where, "--max-tokens", "20", "Say hello"), ("check", *where, "--try")):
        program = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "turnwire_agent",
            *command,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, errors = await program.communicate()
        assert program.returncode == 0, errors
        assert out.strip()


def test_the_lines_of_the_page_about_models_are_run_as_they_are() -> None:
    if not OTHER_AGENTS[LOCAL_MODEL].python.exists():
        pytest.skip("the weights are installed by `make agents`")
    ((expected, block),) = PAGE_BLOCK.findall((ROOT / "docs/models.md").read_text())
    installs, _, lines = block.partition("\n")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = run(lines.replace("18081", str(free_port())), ROOT, {"PATH": path})

    assert installs == "make .venv/agents/local-model/.stamp"
    assert ran.returncode == 0, ran.stderr
    assert expected in ran.stderr
