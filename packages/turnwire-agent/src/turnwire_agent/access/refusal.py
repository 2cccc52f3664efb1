"""Requests that are not answered, and the fixed words that say why."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from msgspec import Struct

_NOTHING: Mapping[str, str] = MappingProxyType({})

UNKNOWN: Final = "-"
"""In place of a name that is not known."""


class Refusal(Struct, frozen=True):
    """Why a request is not answered."""

    status: HTTPStatus
    message: str
    """For the client: fixed words, but that those on a tool may name it."""
    headers: Mapping[str, str] = _NOTHING


class RefusedError(Exception):
    """A request is not answered.

    Args:
        refusal: Why.
        model: The name that the server gave to the model that was asked.
    """

    def __init__(self, refusal: Refusal, model: str = UNKNOWN) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal
        self.model = model
