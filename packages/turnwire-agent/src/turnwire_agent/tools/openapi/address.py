"""The address of an API: the operator's, and the document's only for who asks for it."""

from typing import Any
from urllib.parse import urlsplit

from turnwire_agent.tools.contract import BadToolError


def checked_address(url: str) -> str:
    """Return an address that paths can be put behind.

    Raises:
        BadToolError: it is no such address. Its text does not show it: it may hold a password.
    """
    try:
        parts = urlsplit(url)
        bad = parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0
    except ValueError:
        bad = True
    else:
        bad = bad or "@" in parts.netloc or any(each in url for each in "?#\\ \t\r\n")
    if bad:
        raise BadToolError(
            "the address of an API is http:// or https://, a host, and perhaps a path: no user, "
            "no query"
        )
    return url.rstrip("/")


def document_address(document: Any) -> str:
    """Return the address of the first server of a document, for who trusts the document.

    Who wrote it gets the credential then.

    Raises:
        BadToolError: it names none, or one with variables.
    """
    servers = document.get("servers") if isinstance(document, dict) else None
    first = servers[0] if isinstance(servers, list) and servers else None
    url = first.get("url") if isinstance(first, dict) else None
    if not isinstance(url, str) or "{" in url:
        raise BadToolError("the document names no server, or one with variables")
    return checked_address(url)
