"""What is known of a call: its tool and its input, which comes in pieces, or is told whole."""

from typing import Final

from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.dialects.ag_ui.content.inputs import digest, has_all, joined

TOO_LONG: Final = Raw(safe_json.TOO_LONG)
"""Stands for an input that is not kept. No other input is the same, nor is this one."""

EMPTY: Final = Raw(b"{}")


class KnownCall:
    __slots__ = (
        "_digest",
        "chars",
        "has_ended",
        "input",
        "is_denied",
        "name",
        "pieces",
        "repeated",
    )

    def __init__(self, name: str, whole: Raw | None = None) -> None:
        self.name = name
        self.pieces: list[str] = []
        self.chars = 0
        self.has_ended = whole is not None
        """Whether END came."""
        self.input = whole
        """The whole input, once it was told. It is told once."""
        self._digest: bytes | None = None
        self.is_denied = False
        """Whether its user said no, and was not asked again."""
        self.repeated: KnownCall | None = None
        """How a later run began it again, if that has more input. No card shows it, and the agent
        is not sent it: once its user is asked about it, it is a call of its own."""

    @property
    def known_input(self) -> Raw:
        """Its input, as far as it was told."""
        return self.input or joined(self.pieces) or EMPTY

    @property
    def digest(self) -> bytes:
        """That of its tool and its input. A whole input may be long: it is read once."""
        if self.input is None:
            return digest(self.name, self.known_input)
        if self._digest is None:
            self._digest = digest(self.name, self.input)
        return self._digest

    def forget_input(self) -> None:
        """Keep neither the input nor what was made of it."""
        self.input, self._digest = TOO_LONG, None

    def is_same(self, name: str, whole: Raw) -> bool:
        """Whether a tool and an input are those of this call."""
        return bytes(whole) != safe_json.TOO_LONG and self.digest == digest(name, whole)

    def has_less(self, whole: Raw) -> bool:
        """Whether an input has all of this call's fields, and more."""
        return has_all(whole, self.known_input)


class DoneCall(Struct):
    """What the client has of a call that is over."""

    call: KnownCall
    run: int
    """The number of the run in which it got its outcome."""
    has_input: bool
    is_error: bool
    began_again: int | None = None
    """The number of the last run that began it again: a repetition, unless its user is asked."""
