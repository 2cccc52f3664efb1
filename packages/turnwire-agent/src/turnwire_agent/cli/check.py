"""`turnwire-agent check`: whether keys are found, what schemas lose, and with --try an answer."""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

from turnwire_agent.cli.arguments import Asked, add_model_arguments, asked, tools
from turnwire_agent.cli.retry_lines import retries_shown
from turnwire_agent.cli.terminal import fault_line, printable
from turnwire_agent.llm.call.http import Client, http_client
from turnwire_agent.llm.call.stream import CallSettings, stream
from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.llm.events import Event, Finish
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.providers import PROVIDERS
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.transcript import Text, User
from turnwire_agent.loop.prepare import prepare
from turnwire_agent.tools.contract import Tools

_DESCRIPTION = """\
Says for each model whether its key is found, and where, and what of the tools'
schemas its provider is not sent as a rule. With --try it also asks each model
for one word, which costs a few tokens. Without --model it says which providers
have their keys. Exit codes: 0 all is well, 1 something is not, 2 wrong usage.
"""
_TRIAL = Request(
    transcript=(User((Text("Say yes."),)),),
    max_tokens=16,
)

Line = tuple[bool, str]
"""Whether it is good news, and the news."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--model", action="append", default=[], metavar="PROVIDER:MODEL", help="may be repeated"
    )
    add_model_arguments(parser)
    parser.add_argument(
        "--try", dest="trial", action="store_true", help="ask each model for one word"
    )


def run(arguments: argparse.Namespace) -> int:
    """Look, and print. Returns the exit code.

    Raises:
        UsageError: The arguments do not fit together.
    """
    own_tools = tools(arguments.tool)
    models = [asked(name, arguments) for name in arguments.model]
    with retries_shown(lambda line: print(printable(line), file=sys.stderr)):
        return asyncio.run(_look(models, own_tools, arguments))


async def _look(models: list[Asked], tools: Tools, arguments: argparse.Namespace) -> int:
    if not models:
        for line in _providers():
            print(line)
        return 0
    well = True
    async with http_client(trust_env=arguments.trust_env) as client:
        for who in models:
            async for good, line in _model(who, tools, client, trial=arguments.trial):
                well = well and good
                print(f"{who.name}: {printable(line)}", file=sys.stdout if good else sys.stderr)
    return 0 if well else 1


def _providers() -> Iterator[str]:
    for name, provider in PROVIDERS.items():
        if not provider.key_variable:
            yield f"{name}: takes no key"
        elif os.environ.get(provider.key_variable):
            yield f"{name}: key found in the variable {provider.key_variable}"
        else:
            yield f"{name}: no key in the variable {provider.key_variable}"


async def _model(who: Asked, tools: Tools, client: Client, *, trial: bool) -> AsyncIterator[Line]:
    yield True, f"speaks {who.model.shape} with {who.model.base_url}"
    try:
        await who.credential.headers()
    except CredentialError as error:
        yield False, str(error)
        return
    yield True, f"key found in {who.key}" if who.key else "sends no key"
    for loss in prepare(who.model, (), tools).losses:
        yield True, f"{loss.where}: {loss.what} is not sent as a rule, since {loss.why}"
    if trial:
        yield await _trial(who, client)


async def _trial(who: Asked, client: Client) -> Line:
    last: Event | None = None
    events = stream(who.model, _TRIAL, who.credential, CallSettings(client=client))
    async with aclosing(events):
        async for event in events:
            last = event
    if isinstance(last, Finish):
        return True, f"answers ({last.reason})"
    return False, fault_line(last if isinstance(last, Fault) else Fault(kind="truncated"))
