"""Whether a call that failed is made again, and when.

Only a call of which nothing was told is made again here. What has told something is the loop's
business: it retracts what was told first.
"""

from typing import Final, Literal

from msgspec import Struct

from turnwire_agent.llm.faults import Fault

NEVER: Final = frozenset({400, 401, 403, 404, 413, 422})
"""Statuses after which the same request fails again, whatever the body says."""
_DOUBLINGS: Final = 60
"""Enough for any bound, and few enough for a float."""


class Retries(Struct, frozen=True, kw_only=True):
    """How often, and how patiently. Times are in seconds."""

    attempts: int = 3
    """Of one call, the first one too."""
    first_wait_s: float = 0.5
    """The longest wait after the first attempt. It doubles with each."""
    backoff_s: float = 8.0
    """The longest wait that is ours to choose."""
    asked_wait_s: float = 60.0
    """The longest wait that a provider may ask for. Above it the call fails at once."""


class Wait(Struct, frozen=True):
    """The call is made again."""

    seconds: float


class GiveUp(Struct, frozen=True):
    """The fault is the verdict. It has what the provider asks us to wait, if that is the reason."""

    reason: Literal["begun", "settled", "long-wait", "attempts"]
    """`begun`: the answer had begun. `settled`: another attempt changes nothing. `long-wait`: the
    provider asks for more patience than there is. `attempts`: there were enough."""


def after(
    fault: Fault, attempts: int, *, began: bool, random: float, retries: Retries
) -> Wait | GiveUp:
    """What follows an attempt that failed.

    Args:
        fault: Of the last attempt.
        attempts: So far, of this call.
        began: Whether a part of the answer went to whoever asked.
        random: At least 0, below 1: a new one for each attempt. Clients that failed together come
            back apart.
        retries: The settings.
    """
    if began:
        return GiveUp("begun")
    if not fault.transient or fault.status in NEVER:
        return GiveUp("settled")
    asked_s = fault.retry_after_s or 0.0
    if asked_s > retries.asked_wait_s:
        return GiveUp("long-wait")
    if attempts >= retries.attempts:
        return GiveUp("attempts")
    if asked_s:
        return Wait(asked_s)
    doubled = retries.first_wait_s * 2.0 ** min(attempts - 1, _DOUBLINGS)
    return Wait(random * min(retries.backoff_s, doubled))
