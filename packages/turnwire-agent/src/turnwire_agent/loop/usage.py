"""Adds up what models used."""

from collections.abc import Iterable

from turnwire_agent.llm.events import Usage


def total(usages: Iterable[Usage | None]) -> Usage | None:
    """Return the sum, or None if there is nothing to add.

    What one of them does not say, the sum does not say: it would be too small.
    """
    each = [usage or Usage() for usage in usages]
    if not each:
        return None
    return Usage(
        input=_sum(usage.input for usage in each),
        cache_read=_sum(usage.cache_read for usage in each),
        cache_written=_sum(usage.cache_written for usage in each),
        output=_sum(usage.output for usage in each),
        reasoning=_sum(usage.reasoning for usage in each),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    whole = 0
    for count in counts:
        if count is None:
            return None
        whole += count
    return whole
