"""A shop's agent: it looks orders up by itself, and asks a person before it pays money back."""

import asyncio
from pathlib import Path

from turnwire_agent import Agent, Context, Effect, ToolFailed, tool

ORDERS = {"o7": 40, "o8": 15}
BOOK = Path("refunds.txt")


def pay(key: str, amount: int) -> None:
    """Stands for a payment service: it takes a key, and pays once for each."""
    paid = BOOK.read_text() if BOOK.exists() else ""
    if key not in paid:
        BOOK.write_text(f"{paid}{key} {amount}\n")


@tool(effect=Effect.SAFE)
def order(order_id: str) -> dict[str, object]:
    """Look up what was paid for an order."""
    if order_id not in ORDERS:
        raise ToolFailed(f"There is no order {order_id}.")
    return {"order": order_id, "paid": ORDERS[order_id]}


@tool(effect=Effect.KEYED, approval="always")
async def refund(order_id: str, amount: int, context: Context) -> str:
    """Pay money back to the customer of an order."""
    if amount > ORDERS.get(order_id, 0):
        raise ToolFailed("That is more than was paid.")
    pay(context.key, amount)
    await asyncio.sleep(5)  # the bank needs its time to say so
    return f"{amount} were paid back for {order_id}."


agent = Agent(
    model="anthropic:claude-sonnet-4-5",
    instructions="You work for a shop. Be brief.",
    tools=(order, refund),
)
