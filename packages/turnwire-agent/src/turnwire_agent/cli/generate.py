"""`turnwire-agent generate`: models for programs in other languages, over HTTP."""

import argparse
import asyncio
import logging
import re
import sys
from typing import Final

from turnwire_agent.cli.access_arguments import NoTokensError, add_access_arguments, tokens
from turnwire_agent.cli.arguments import Asked, UsageError, add_provider_arguments, asked
from turnwire_agent.cli.signals import stopped_by_signals
from turnwire_agent.llm.call.http import http_client
from turnwire_agent.llm.call.stream import CallSettings

_DESCRIPTION = """\
Answers POST /v1/generate: a call of a model for programs that have no key of
their own, as those of the npm package turnwire-model. Elsewhere than on
loopback it asks for a bearer token: that of --token-file, or one that the
keys of --token-jwks verify. A line of its log is a call; prompts, keys and
tokens are in none. It ends with SIGTERM or Ctrl-C.
Exit codes: 0 stopped, 1 cannot listen, 2 wrong usage.
"""
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LISTEN: Final = "127.0.0.1:8790"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--model",
        action="append",
        required=True,
        metavar="NAME=PROVIDER:MODEL",
        help="a model, and the name that programs ask for; may be repeated",
    )
    add_provider_arguments(parser)
    parser.add_argument(
        "--listen",
        default=_LISTEN,
        metavar="HOST:PORT",
        help=f"port 0: any free one (default: {_LISTEN})",
    )
    add_access_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes. Returns the exit code.

    Raises:
        UsageError: The arguments do not fit together.
    """
    return asyncio.run(_serve(_models(arguments), arguments))


def _models(arguments: argparse.Namespace) -> dict[str, Asked]:
    models: dict[str, Asked] = {}
    for given in arguments.model:
        name, equals, model = given.partition("=")
        if not (equals and _NAME.fullmatch(name)):
            raise UsageError(f"{given!r} is not NAME=PROVIDER:MODEL, as fast=openai:gpt-5-mini")
        if name in models:
            raise UsageError(f"two models are called {name!r}")
        models[name] = asked(model, arguments)
    return models


async def _serve(models: dict[str, Asked], arguments: argparse.Namespace) -> int:
    # The server's libraries take a while to import, which no other command waits for.
    from turnwire_agent.access.access import Access  # noqa: PLC0415
    from turnwire_agent.access.listening import (  # noqa: PLC0415
        BadAddressError,
        CannotListenError,
        listener,
    )
    from turnwire_agent.generate import server  # noqa: PLC0415
    from turnwire_agent.generate.app import Served  # noqa: PLC0415

    async with http_client(trust_env=arguments.trust_env) as client:
        try:
            good = await tokens(arguments, client)
            listening, loopback = listener(arguments.listen, has_token=good is not None)
        except BadAddressError as error:
            raise UsageError(f"listen: {error}") from error
        except (NoTokensError, CannotListenError) as error:
            print(f"turnwire-agent generate: {error}", file=sys.stderr)
            return 1
        _log()
        host, port = listening.getsockname()[:2]
        print(f"listening on http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)
        access = Access(loopback=loopback, tokens=good)
        served = {name: Served(who.model, who.credential) for name, who in models.items()}
        settings = CallSettings(client=client)
        await server.serve(served, listening, access, settings, stopped_by_signals())
    return 0


def _log() -> None:
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    for library in ("httpx", "httpcore", "uvicorn", "asyncio"):
        logging.getLogger(library).setLevel(logging.WARNING)
