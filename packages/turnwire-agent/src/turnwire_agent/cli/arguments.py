"""Arguments that several commands have: the model, where it is, its key, its tools."""

import argparse
import difflib
import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final, get_args

from turnwire_agent.llm.credentials.api_key import ApiKey, NoKey
from turnwire_agent.llm.credentials.key_file import KeyFile
from turnwire_agent.llm.credentials.key_header import KEY_HEADERS
from turnwire_agent.llm.credentials.port import Credential, CredentialError
from turnwire_agent.llm.credentials.sources import KeyVariable
from turnwire_agent.llm.model import Model, Quirks, ShapeName
from turnwire_agent.llm.providers import PROVIDERS
from turnwire_agent.tools.contract import BadToolError, Tool, Tools
from turnwire_agent.tools.functions import tool
from turnwire_agent.tools.operations import Operation, operation_tools

_BASE_URL: Final = re.compile(r"https?://[^/?#@\s]+(/[^?#\s]*)?")


_PACKAGE: Final = str(Path(__file__).parents[1])
_IMPORTING: Final = {
    importlib.__file__,
    __file__,
    "<frozen importlib._bootstrap>",
    "<frozen importlib._bootstrap_external>",
}
"""Files of the frames of an import itself."""


class UsageError(Exception):
    """Arguments that do not fit together. The text is one line."""


class Asked:
    """A model, its credential, and where its key is looked for."""

    def __init__(
        self, model: Model, credential: Credential, key: str, *, from_file: bool = False
    ) -> None:
        self.model = model
        self.credential = credential
        self.key = key
        """As `the variable OPENAI_API_KEY`; empty if none is sent."""
        self._from_file = from_file

    async def check_key(self) -> None:
        """Look whether there is a key, if one is needed.

        Raises:
            UsageError: The file that is named for it has none.
            CredentialError: Another place has none.
        """
        try:
            await self.credential.headers()
        except CredentialError as error:
            if self._from_file:
                raise UsageError(f"key_file: {error}") from error
            raise

    @property
    def name(self) -> str:
        return f"{self.model.provider}:{self.model.name}"


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the models are, with which key, and which tools they may call."""
    add_provider_arguments(parser)
    parser.add_argument(
        "--tool",
        action="append",
        default=[],
        metavar="MODULE:NAME",
        help="the model may call it: a function, an operation, a list; may be repeated",
    )


def add_provider_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the models are, and with which key."""
    parser.add_argument(
        "--base-url",
        type=base_url,
        metavar="URL",
        help="another server than the provider's. It gets no key but the one that you name",
    )
    parser.add_argument(
        "--shape",
        choices=get_args(ShapeName),
        help="the wire to speak (default: the provider's)",
    )
    key = parser.add_mutually_exclusive_group()
    key.add_argument("--key-file", type=Path, metavar="FILE", help="has the key in its one line")
    key.add_argument(
        "--key-variable", metavar="NAME", help="the variable of the environment that has the key"
    )
    parser.add_argument(
        "--trust-env",
        action="store_true",
        help="use the proxies and certificates that the environment names",
    )


def asked(name: str, arguments: argparse.Namespace) -> Asked:
    """The model that a command line names.

    Raises:
        UsageError: The provider is unknown, and what it would tell is not given; or the file of the
            key is not there.
    """
    provider, colon, model_name = name.partition(":")
    if not (provider and colon and model_name):
        raise UsageError(f"{name!r} is not PROVIDER:MODEL, as anthropic:claude-sonnet-4-5")
    known = PROVIDERS.get(provider)
    if known is None and not (arguments.base_url and arguments.shape):
        similar = difflib.get_close_matches(provider, PROVIDERS, n=1, cutoff=0.7)
        hint = f"did you mean {similar[0]}? " if similar else ""
        hint += f"known are {', '.join(PROVIDERS)};"
        raise UsageError(f"no provider {provider!r}; {hint} any other needs --base-url and --shape")
    model = Model(
        provider=provider,
        name=model_name,
        shape=arguments.shape or (known.shape if known else "chat"),
        base_url=arguments.base_url or (known.base_url if known else ""),
        quirks=known.quirks if known else Quirks(),
    )
    header = KEY_HEADERS[model.shape]
    if arguments.key_file:
        if not (os.access(arguments.key_file, os.R_OK) and arguments.key_file.is_file()):
            raise UsageError(f"key_file: there is no file {arguments.key_file} that can be read")
        credential = ApiKey(KeyFile(arguments.key_file), header)
        return Asked(model, credential, f"the file {arguments.key_file}", from_file=True)
    variable = arguments.key_variable
    if not variable and known and not arguments.base_url:
        variable = known.key_variable
    if not variable:
        return Asked(model, NoKey(), "")
    return Asked(model, ApiKey(KeyVariable(variable), header), f"the variable {variable}")


def search_this_folder() -> None:
    """Find modules in the folder that the command stands in, before all others."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)


def tools(named: Iterable[Any]) -> Tools:
    """The tools that a command line names. The folder that it stands in is searched first.

    Args:
        named: As `MODULE:NAME`, of a function, an operation, or several of them; in Python also
            these themselves.

    Raises:
        UsageError: One is not there, or is no tool.
    """
    search_this_folder()
    try:
        return Tools(chain.from_iterable(map(_named, named)))
    except BadToolError as error:
        raise UsageError(str(error)) from error


def imported(name: str) -> Any:
    """What `MODULE:NAME` is. The folder that the command stands in is searched first.

    Raises:
        UsageError: It is not there, or its module cannot be imported. In one line.
    """
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise UsageError(f"{name!r} is not MODULE:NAME")
    search_this_folder()
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever a module of somebody else raises
        raise UsageError(f"{name}: {_problem(error)}") from error
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        raise UsageError(f"{name}: the module has no {attribute!r}") from error


def _problem(error: Exception) -> str:
    """What a module raised while it was imported, and where, in one line."""
    if (
        isinstance(error, SyntaxError) and error.filename
    ):  # of this file; the traceback ends where it was compiled
        return f"SyntaxError: {error.msg} ({error.filename}, line {error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if each.filename not in _IMPORTING]
    kind = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
    is_ours = own and own[-1].filename.startswith(_PACKAGE)  # an extra is missing
    place = f" ({own[-1].filename}, line {own[-1].lineno})" if own and not is_ours else ""
    return " ".join(f"{kind}{error}".split()) + place


def _named(name: Any) -> Iterator[Tool]:
    return _made(imported(name), name) if isinstance(name, str) else _made(name, repr(name))


def _made(found: Any, name: str) -> Iterator[Tool]:
    match found:
        case Tool():
            yield found
        case Operation():
            yield from operation_tools([found])
        case list() | tuple() | Tools():
            for each in found:
                yield from _named(each)
        case _ if callable(found):
            yield tool(found)
        case _:
            raise UsageError(f"{name} is no function")


def base_url(value: str) -> str:
    """Check where a server is.

    Raises:
        ArgumentTypeError: it is no such URL.
    """
    if not _BASE_URL.fullmatch(value):
        message = f"{value!r} is not http(s)://HOST/PATH, without a user or a query"
        raise argparse.ArgumentTypeError(message)
    return value.rstrip("/")
