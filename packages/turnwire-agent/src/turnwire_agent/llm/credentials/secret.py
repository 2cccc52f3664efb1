"""Text that no representation shows."""

import hmac
from collections.abc import Iterator, Mapping
from typing import NoReturn, SupportsIndex, final


@final
class Secret:
    """A key or a token. Only `reveal` gives its text.

    It compares in constant time, and it cannot be hashed or pickled.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(...)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    __hash__ = None  # type: ignore[assignment]

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("A Secret is neither pickled nor copied.")


@final
class SecretHeaders(Mapping[str, str]):
    """Headers of a request. The representation has their names alone."""

    __slots__ = ("_headers",)

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = dict(headers)

    def __getitem__(self, name: str) -> str:
        return self._headers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._headers)

    def __len__(self) -> int:
        return len(self._headers)

    def __repr__(self) -> str:
        return f"SecretHeaders({', '.join(self._headers)})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("SecretHeaders are neither pickled nor copied.")
