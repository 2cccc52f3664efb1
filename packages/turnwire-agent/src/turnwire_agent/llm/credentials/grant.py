"""The two grants of OAuth 2 that need no person (RFC 6749, 4.4 and 6), as bytes of a form."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal
from urllib.parse import quote_plus, urlencode, urlsplit

from turnwire_agent.llm.credentials.secret import Secret, SecretHeaders
from turnwire_agent.llm.credentials.sources import KeySource


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """How a server gives tokens.

    Raises:
        ValueError: `token_url` would carry secrets in the clear, or holds some.
    """

    kind: Literal["refresh_token", "client_credentials"]
    token_url: str = field(repr=False)
    """`https`; `http` on loopback alone."""
    client_id: str
    client_secret: KeySource | None = None
    """None for a public client, whose id stands in the form."""
    client_auth: Literal["basic", "post"] = "basic"
    """Where the client's secret goes: in a header, or in the form."""
    scope: str = ""
    extra: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Fields of the form that a server wants besides, as `audience`."""

    def __post_init__(self) -> None:
        try:
            url = urlsplit(self.token_url)
        except ValueError:  # its text may hold the URL
            url = urlsplit("")
        host = url.hostname or ""
        if url.scheme != "https" and not (url.scheme == "http" and _loopback(host)):
            raise ValueError("A token URL begins with https://, or http:// on loopback.")
        if not host or "@" in url.netloc or url.fragment:
            raise ValueError("A token URL has a host, and no password and no fragment.")

    @property
    def server(self) -> str:
        """The host of the token server: for messages."""
        return urlsplit(self.token_url).netloc

    def key(self, name: str) -> str:
        """Under which the tokens are stored.

        With other settings there is another key: a token never goes to a server that did not
        give it.
        """
        return f"{name}\n{self.kind}\n{self.token_url}\n{self.client_id}\n{self.scope}"


class TokenRequest:
    """The body and the headers of the POST. Its representation is empty."""

    __slots__ = ("body", "headers")

    def __init__(self, body: bytes, headers: Mapping[str, str]) -> None:
        self.body = body
        self.headers = SecretHeaders(headers)

    def __repr__(self) -> str:
        return "TokenRequest(...)"


def token_request(
    grant: Grant, *, client_secret: Secret | None, refresh_token: Secret | None
) -> TokenRequest:
    """The request for a token, of a grant whose secrets were read."""
    fields: dict[str, str] = {"grant_type": grant.kind}
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "accept": "application/json",
        "accept-encoding": "identity",  # so that a bound in bytes is a bound of the text
    }
    if refresh_token is not None:
        fields["refresh_token"] = refresh_token.reveal()
    if grant.scope:
        fields["scope"] = grant.scope
    if client_secret is None:
        fields["client_id"] = grant.client_id
    elif grant.client_auth == "post":
        fields |= {"client_id": grant.client_id, "client_secret": client_secret.reveal()}
    else:
        # RFC 6749, 2.3.1: both are form-encoded before they are joined.
        pair = f"{quote_plus(grant.client_id)}:{quote_plus(client_secret.reveal())}"
        headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    return TokenRequest(urlencode({**grant.extra, **fields}).encode(), headers)


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
