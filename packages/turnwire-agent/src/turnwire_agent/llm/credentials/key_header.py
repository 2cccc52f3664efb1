"""Which header a key goes into, and which characters it may have."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from turnwire_agent.llm.credentials.port import Failure
from turnwire_agent.llm.credentials.secret import Secret, SecretHeaders
from turnwire_agent.llm.model import ShapeName


class KeyHeader(Struct, frozen=True):
    """A header that carries a secret."""

    name: str
    prefix: str = ""
    """Stands before the secret, with the space after it."""

    def headers(self, secret: Secret) -> SecretHeaders:
        return SecretHeaders({self.name: self.prefix + secret.reveal()})


BEARER: Final = KeyHeader("authorization", "Bearer ")
"""Also the header of every token of OAuth (RFC 6750), whatever the shape is."""

KEY_HEADERS: Final[Mapping[ShapeName, KeyHeader]] = MappingProxyType(
    {
        "chat": BEARER,
        "responses": BEARER,
        "messages": KeyHeader("x-api-key"),
        "google": KeyHeader("x-goog-api-key"),
    }
)
"""Where the API key of a shape goes. Google's may stand in the query too: there, logs show it."""


def usable_key(text: str, place: str, noun: str = "key") -> Secret | Failure:
    """The key or token that was found at a place.

    Args:
        text: Without the line break at its end.
        place: Where it was found, as `the file /run/key`: for the message.
        noun: What it is, as `token`: for the message.

    Returns:
        A failure if it is empty, or if no header can have it. That is no exception: loggers that
        show the variables of each frame would show the text.
    """
    if not text:
        return Failure("missing", f"No {noun}: {place} is empty.")
    for position, character in enumerate(text, start=1):
        if not "!" <= character <= "~":
            return Failure(
                "unusable",
                f"The {noun} of {place} has {_described(character)} as character {position}. "
                f"No {noun} has that.",
            )
    return Secret(text)


def _described(character: str) -> str:
    if character in "\r\n":
        return "a line break"
    if character == " ":
        return "a space"
    return "a control character" if character < " " or character == "\x7f" else "no ASCII letter"
