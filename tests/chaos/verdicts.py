"""One verdict on the wire, one outcome in the metrics, and the two agree.

The helper of every test here: whatever broke, a stream ends once, and what its
client was told is what the operator sees.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from chaos.patience import told
from gateway.clients import chunks, is_whole, outline
from gateway.served import Served
from gateway.waiting import until
from turnwire.core.turn.outcome import Outcome

NONE = "none"
"""The stream broke off: its client was told nothing, and can see that it was not."""

_BY_TEXT = {outcome.text: outcome.value for outcome in reversed(Outcome) if outcome.text}
"""Of those that say the same, the usual one."""
_UNTOLD = {"client_gone", "abandoned", "slow_client"}
"""Outcomes that nobody is there to hear."""


def verdict(body: bytes | str) -> str:
    """The outcome that a client reads off its stream."""
    if not is_whole(body):
        return NONE
    kinds = Counter(outline(body))
    ends = kinds["error"] + kinds["abort"]
    assert kinds["finish"] == 1
    assert ends <= 1
    if kinds["abort"]:
        return str(Outcome.CANCELED.value)
    if kinds["error"]:
        text = next(chunk["errorText"] for chunk in chunks(body) if chunk["type"] == "error")
        return str(_BY_TEXT.get(text, Outcome.FAILED.value))
    return str(Outcome.COMPLETED.value)


async def agree(
    gateway: Served, bodies: Iterable[bytes | str], *, untold: str | Sequence[str] = "client_gone"
) -> Counter[str]:
    """Wait until every stream has ended, and hold the metrics and the log against the bodies.

    `untold` is the outcome of the streams that broke off, or those of each. Returns the outcomes.
    """
    seen = Counter(verdict(body) for body in bodies)
    broken = seen.pop(NONE, 0)
    outcomes = [untold] * broken if isinstance(untold, str) else list(untold)
    assert len(outcomes) == broken, f"{broken} broke off"
    assert _UNTOLD.issuperset(outcomes)
    expected = seen + Counter(outcomes)
    found: Counter[str] = Counter()

    async def ended() -> bool:
        nonlocal found
        found = await gateway.outcomes()
        return not found["open"] and found.total() >= expected.total()

    await told(ended)
    assert found == expected, f"the metrics say {found}, the clients {expected}"
    await until(lambda: gateway.logged_outcomes() == expected)
    return found
