"""Arguments that say who may speak to a server."""

import argparse
import sys
from pathlib import Path
from typing import Final

import httpx

from turnwire_agent.access.access import Tokens
from turnwire_agent.access.file_token import FileToken
from turnwire_agent.cli.arguments import UsageError
from turnwire_agent.llm.credentials.key_file import KeyFile
from turnwire_agent.llm.credentials.port import CredentialError

LEEWAY_S: Final = 10.0


class NoTokensError(Exception):
    """What verifies tokens is not there. The text is one line."""


def add_access_arguments(parser: argparse.ArgumentParser) -> None:
    """Which bearer tokens are good: that of a file, or those that an issuer signed."""
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="has the bearer token in its one line; it is read again when it changes",
    )
    ways.add_argument(
        "--token-jwks",
        metavar="URL|FILE",
        help="bearer tokens are those of users, as a gateway forwards them, signed by a key of "
        "this key set. It needs --token-issuer and --token-audience",
    )
    parser.add_argument(
        "--token-issuer", metavar="NAME", help="the `iss` that a token must have; '': any"
    )
    parser.add_argument(
        "--token-audience", metavar="NAME", help="the `aud` that a token must have; '': any"
    )
    parser.add_argument(
        "--token-leeway-s",
        type=float,
        default=LEEWAY_S,
        metavar="SECONDS",
        help=f"how far the issuer's clock may be from ours, 300 at most (default: {LEEWAY_S:g})",
    )


async def tokens(arguments: argparse.Namespace, client: httpx.AsyncClient) -> Tokens | None:
    """What verifies tokens; None if none are asked for.

    Args:
        arguments: With those of `add_access_arguments`.
        client: Reads a key set that is at a URL.

    Raises:
        UsageError: The arguments do not fit together, or their file has no token, or no keys.
        NoTokensError: An extra is missing.
    """
    if arguments.token_jwks:
        return await _signed(arguments, client)
    if arguments.token_issuer is not None or arguments.token_audience is not None:
        raise UsageError("--token-issuer and --token-audience are of --token-jwks")
    if not arguments.token_file:
        return None
    file = KeyFile(arguments.token_file, noun="token")
    try:
        await file.read()
    except CredentialError as error:
        raise UsageError(f"token_file: {error}") from error
    return FileToken(file)


async def _signed(arguments: argparse.Namespace, client: httpx.AsyncClient) -> Tokens:
    if arguments.token_issuer is None or arguments.token_audience is None:
        raise UsageError("--token-jwks needs --token-issuer and --token-audience ('': any)")
    try:
        from turnwire_agent.access.key_set import KeySet  # noqa: PLC0415 (an extra)
        from turnwire_agent.access.key_set_source import FileSource, UrlSource  # noqa: PLC0415
        from turnwire_agent.access.public_keys import NoKeySetError, Terms  # noqa: PLC0415
        from turnwire_agent.access.signed_tokens import SignedTokens  # noqa: PLC0415
    except ImportError as error:
        raise NoTokensError(str(error)) from None
    where = arguments.token_jwks
    terms = Terms(arguments.token_issuer, arguments.token_audience, arguments.token_leeway_s)
    is_url = where.partition("://")[0].lower() in ("http", "https")
    try:
        keys = KeySet(UrlSource(where, client) if is_url else FileSource(Path(where)))
        signed = SignedTokens(keys, terms)
    except ValueError as error:
        raise UsageError(str(error)) from None
    try:
        await keys.load()
    except NoKeySetError as error:
        # A server may be there in a moment. A file that is wrong stays so.
        if not is_url:
            raise UsageError(f"token_jwks: {where}: {error}") from None
        print(f"--token-jwks: {error}; requests get 503 until it is there", file=sys.stderr)
    return signed
