"""A tool whose key holds across calls, and a receiver that uses the key and the epoch."""

import msgspec

from turnwire_agent import Context, Effect, ToolFailed, tool
from turnwire_agent.tools.arguments import Invalid

PAID: dict[str, int] = {}
EPOCHS: dict[str, int] = {}


@tool(effect=Effect.KEYED, key=lambda order: f"refund-{order}")
def refund(order: str, cents: int, call: Context) -> str:
    """Pay an order back, once."""
    if call.epoch < EPOCHS.get(call.session_id, 0):
        raise ToolFailed("Another process has this session by now.")
    EPOCHS[call.session_id] = call.epoch
    return f"{order}: {PAID.setdefault(call.key, cents)} cents, by {call.key}"


def main() -> None:
    for order, cents, epoch in (("o7", 500, 1), ("o7", 900, 2), ("o8", 100, 1)):
        read = refund.validate(msgspec.json.encode({"order": order, "cents": cents}).decode())
        assert refund.key
        assert not isinstance(read, Invalid)
        call = Context(call_id="c1", key=refund.key(read.value), session_id="s1", epoch=epoch)
        try:
            print(refund.call(read.value, call))
        except ToolFailed as failed:
            print(failed)


main()
