"""`turnwire-agent check`: whether models, or all of an agent, could be served here."""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

from turnwire_agent.cli.agent.arguments import add_settings, flags, settings
from turnwire_agent.cli.arguments import Asked, UsageError, tools
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
from turnwire_agent.settings import NAMED, OF_A_MODEL, Agent
from turnwire_agent.tools.contract import Tool, Tools

_DESCRIPTION = """\
Says for each model whether its key is found, and where, and what of the tools'
schemas its provider is not sent as a rule. With --try it also asks each model
for one word, which costs a few tokens. Of an agent it also says what its tools
are, those of MCP servers and OpenAPI documents too, and whether its journal is
there; it takes the flags of `serve`, and opens no port. Flags of the server
alone are an agent, too. Without an agent, a model or such a flag it says which
providers have their keys.
Exit codes: 0 all is well, 1 something is not, 2 wrong usage or settings.
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
    add_settings(parser, without=frozenset({"model"}))
    parser.add_argument(
        "--try", dest="trial", action="store_true", help="ask each model for one word"
    )


def run(arguments: argparse.Namespace) -> int:
    """Look, and print. Returns the exit code.

    Raises:
        UsageError: The arguments do not fit together.
    """
    with retries_shown(lambda line: print(printable(line), file=sys.stderr)):
        if arguments.agent or _has_server_flags(arguments):
            if len(arguments.model) > 1:
                raise UsageError("an agent has one model")
            name = arguments.model[0] if arguments.model else None
            return asyncio.run(_look_at_agent(_agent(arguments, name), arguments))
        own_tools = tools(arguments.tool)
        models = [_agent(arguments, name) for name in arguments.model]
        return asyncio.run(_look(models, own_tools, arguments))


def _has_server_flags(arguments: argparse.Namespace) -> bool:
    """Whether a flag says more than which models, and where they are."""
    given = vars(arguments)
    fields = {flag.field for flag in flags()} - OF_A_MODEL
    return any(given[each] for each in NAMED) or any(given[each] is not None for each in fields)


def _agent(arguments: argparse.Namespace, model: str | None) -> Agent:
    return settings(argparse.Namespace(**(vars(arguments) | {"model": model})))


async def _look_at_agent(agent: Agent, arguments: argparse.Namespace) -> int:
    from turnwire_agent.cli.agent.checked import looked_at  # noqa: PLC0415 (takes a while to import)
    from turnwire_agent.cli.agent.parts import model_of  # noqa: PLC0415

    own_tools: list[Tool] = []
    code = 0
    async with http_client(trust_env=agent.trust_env) as client:
        try:
            async for finding in looked_at(agent, client, own_tools):
                if finding.part:
                    code = max(code, _show(finding.part, finding.text, good=finding.good))
                else:
                    code = _show_wrong(finding.text)
            if agent.driver is None and agent.answers is None:
                who = model_of(agent)
                every = Tools(own_tools)
                async for good, line in _model(who, every, client, trial=arguments.trial):
                    code = max(code, _show(who.name, line, good=good))
        except UsageError as error:
            code = _show_wrong(str(error))
    return code


def _show(part: str, text: str, *, good: bool) -> int:
    """Print a line. Returns the exit code that it means."""
    print(f"{part}: {printable(text)}", file=sys.stdout if good else sys.stderr)
    return 0 if good else 1


def _show_wrong(text: str) -> int:
    """Print what is wrong with a setting, as any command does; others are looked at, too."""
    print(f"turnwire-agent check: {printable(text)}", file=sys.stderr)
    return 2


async def _look(models: list[Agent], tools: Tools, arguments: argparse.Namespace) -> int:
    if not models:
        for line in _providers():
            print(line)
        return 0
    from turnwire_agent.cli.agent.parts import model_of  # noqa: PLC0415 (takes a while to import)

    asked = [model_of(each) for each in models]
    code = 0
    async with http_client(trust_env=bool(arguments.trust_env)) as client:
        for who in asked:
            async for good, line in _model(who, tools, client, trial=arguments.trial):
                code = max(code, _show(who.name, line, good=good))
    return code


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
        await who.check_key()
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
