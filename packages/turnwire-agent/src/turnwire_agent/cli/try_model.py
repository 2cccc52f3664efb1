"""`turnwire-agent try`: one prompt, in the terminal."""

import argparse
import asyncio
import sys
from contextlib import aclosing

from msgspec import structs

from turnwire_agent.cli import tool_calls
from turnwire_agent.cli.arguments import Asked, add_model_arguments, asked, tools
from turnwire_agent.cli.retry_lines import retries_shown
from turnwire_agent.cli.terminal import Terminal, fault_line
from turnwire_agent.llm.answer import Answer
from turnwire_agent.llm.call.http import http_client
from turnwire_agent.llm.call.stream import CallSettings, stream
from turnwire_agent.llm.events import Event
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.transcript import Assistant, Message, Text, User
from turnwire_agent.loop.prepare import Prepared, prepare, registered
from turnwire_agent.tools.contract import Tools

_DESCRIPTION = """\
Sends one prompt to a model and shows its answer as it comes: the text on
standard output, all else on standard error. With --tool the model may call
functions of yours, once: the results are sent back, and its next answer is the
last. Functions really run; one that needs somebody's approval runs if you say
so at the terminal, and nowhere else. Exit codes: 0 answered, 1 not, 2 wrong usage.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    parser.add_argument("--model", required=True, metavar="PROVIDER:MODEL")
    add_model_arguments(parser)
    parser.add_argument(
        "--wire",
        action="store_true",
        help="show the bytes that go out and come in, without the key",
    )
    parser.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help="how long each answer may be (default: the provider's bound)",
    )
    parser.add_argument("prompt", metavar="PROMPT")


def run(arguments: argparse.Namespace) -> int:
    """Ask, and show. Returns the exit code.

    Raises:
        UsageError: The arguments do not fit together.
    """
    who = asked(arguments.model, arguments)
    own_tools = tools(arguments.tool)
    terminal = Terminal(sys.stdout, sys.stderr, wire=arguments.wire)
    with retries_shown(terminal.line):
        fault = asyncio.run(_turn(who, own_tools, arguments, terminal))
    if fault:
        terminal.line(f"turnwire-agent try: {fault_line(fault)}")
    return 1 if fault else 0


async def _turn(
    who: Asked, tools: Tools, arguments: argparse.Namespace, terminal: Terminal
) -> Fault | None:
    """Ask; if the model calls tools, run them and ask once more."""

    def tell(losses: tuple[Loss, ...]) -> None:
        for loss in losses:
            terminal.line(f"{loss.where}: {loss.what}, since {loss.why}")

    transcript: list[Message] = [User((Text(arguments.prompt),))]
    async with http_client(trust_env=arguments.trust_env) as client:
        settings = CallSettings(client=client, tap=terminal.tap, tell_losses=tell)
        prepared = prepare(who.model, tuple(transcript), tools)
        tell(prepared.losses)
        bound = arguments.max_tokens
        answer = await _answer(who, prepared, bound, settings, terminal)
        if isinstance(answer, Fault) or not answer.calls:
            return answer if isinstance(answer, Fault) else None
        message = registered(answer, prepared.names)
        results = await tool_calls.results(message, tools, prepared.names, terminal.line)
        for result in results.results:
            texts = [part.text for part in result.content if isinstance(part, Text)]
            terminal.line(f"{result.name} {result.outcome}: {' '.join(texts)}")
        transcript += [message, results]
        prepared = prepare(who.model, tuple(transcript), tools)
        answer = await _answer(who, prepared, bound, settings, terminal, made_ids="again")
    if isinstance(answer, Fault):
        return answer
    if answer.calls:
        terminal.line("These calls are not run: there is one round of them.")
    return None


async def _answer(
    who: Asked,
    prepared: Prepared,
    max_tokens: int | None,
    settings: CallSettings,
    terminal: Terminal,
    made_ids: str = "call",
) -> Assistant | Fault:
    answer = Answer(who.model)
    last: Event | None = None
    request = structs.replace(prepared.request, max_tokens=max_tokens)
    events = stream(who.model, request, who.credential, settings, made_ids=made_ids)
    async with aclosing(events):
        async for event in events:
            terminal.event(event)
            answer.add(event)
            last = event
    message = answer.message()
    if message is None:
        return last if isinstance(last, Fault) else Fault(kind="truncated")
    return message
