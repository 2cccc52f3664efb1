"""What the operator decides about the operations of a document: it decides nothing by itself."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from turnwire_agent.tools.contract import DESCRIPTION_MAX, TIMEOUT_S, Approval, BadToolError

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")


class Policy(Struct, frozen=True, kw_only=True):
    """Which operations of an API are tools, and how.

    Operations are named by their `operationId`, else by method and path, as `GET /orders/{id}`.

    Raises:
        BadToolError: the name of the API is none, or the timeout is not above 0.
    """

    name: str
    """Of the API: the part before the point in the names of its tools."""
    only: frozenset[str] | None = None
    """Operations that are tools; None: all that can be."""
    keyed: frozenset[str] = frozenset()
    """Operations that take an `Idempotency-Key`, and do nothing when a key comes again. All other
    operations that change something are `Effect.ONCE`."""
    approval: Approval = "never"
    """Of each operation that changes something, if it is not in `approvals`."""
    approvals: Mapping[str, Approval] = {}
    slashes: bool = False
    """Whether `/` may be in a parameter of a path, as `%2F`. Many servers unpack it before they
    look which path it is, so that a parameter leads somewhere else."""
    timeout_s: float = TIMEOUT_S
    description_chars: int = DESCRIPTION_MAX
    """Most characters of a description: what is longer is cut."""

    def __post_init__(self) -> None:
        """Refuse what would fail later."""
        if not _NAME.fullmatch(self.name):
            raise BadToolError(
                f"API {self.name[:60]!a}: a name has 1 to 32 letters, digits, _ and -"
            )
        if not self.timeout_s > 0:
            raise BadToolError(f"API {self.name!r}: a timeout is more than 0 seconds")

    @property
    def named(self) -> frozenset[str]:
        """All operations that it speaks of."""
        return (self.only or frozenset()) | self.keyed | frozenset(self.approvals)
