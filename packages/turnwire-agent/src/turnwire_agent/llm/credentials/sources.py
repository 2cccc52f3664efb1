"""Where a key comes from: a value, or a variable of the environment."""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol

from turnwire_agent.llm.credentials.key_header import usable_key
from turnwire_agent.llm.credentials.port import CredentialError, Failure, unless_failed
from turnwire_agent.llm.credentials.secret import Secret

USUAL_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "anthropic": "ANTHROPIC_API_KEY",
        "openai": "OPENAI_API_KEY",
        "google": "GEMINI_API_KEY",
    }
)
"""The variable that people have set already, by provider. Not by shape: many servers speak a shape,
and the key of one must not go to another."""


class KeySource(Protocol):
    """A place that has a key, or another secret."""

    async def read(self) -> Secret:
        """The key as it is now.

        Raises:
            CredentialError: There is none, or it cannot be used.
        """
        ...

    def expire(self) -> None:
        """Keep nothing: the next `read` looks at the place itself."""
        ...


class KeyValue:
    """A key that is given as it is."""

    def __init__(self, key: str, *, place: str = "the setting") -> None:
        self._key = Secret(key)
        self._place = place

    def __repr__(self) -> str:
        return "KeyValue(...)"

    async def read(self) -> Secret:
        return unless_failed(usable_key(self._key.reveal(), self._place))

    def expire(self) -> None:
        """A value does not change."""


class KeyVariable:
    """A key in a variable of the environment."""

    def __init__(self, variable: str, *, environ: Mapping[str, str] = os.environ) -> None:
        self._variable = variable
        self._environ = environ

    def __repr__(self) -> str:
        return f"KeyVariable({self._variable})"

    async def read(self) -> Secret:
        if self._variable not in self._environ:
            raise CredentialError(
                Failure("missing", f"No key: the variable {self._variable} is not set.")
            )
        place = f"the variable {self._variable}"
        return unless_failed(usable_key(self._environ[self._variable], place))

    def expire(self) -> None:
        """Nothing is kept."""


def usual_variable(provider: str, *, environ: Mapping[str, str] = os.environ) -> KeyVariable:
    """The variable that holds the key of this provider by custom.

    Raises:
        CredentialError: There is no such custom.
    """
    variable = USUAL_NAMES.get(provider)
    if variable is None:
        raise CredentialError(
            Failure(
                "missing",
                f"No key: the provider {provider!r} has no usual variable. "
                f"Those with one are {', '.join(USUAL_NAMES)}.",
            )
        )
    return KeyVariable(variable, environ=environ)
