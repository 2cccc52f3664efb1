"""Tools of a program's own: a function, and operations that an application has anyway."""

import asyncio
import inspect
from typing import Annotated

from msgspec import Meta, Struct

from turnwire_agent.tools.arguments import Invalid
from turnwire_agent.tools.contract import Context, Effect, ToolFailed, Tools
from turnwire_agent.tools.functions import tool
from turnwire_agent.tools.operations import Operation, operation_tools

STOCK = {"cup": 3}


@tool(effect=Effect.SAFE)
def stock(item: Annotated[str, Meta(description="As in the catalogue.", max_length=40)]) -> int:
    """How many there are of an item."""
    if item not in STOCK:
        raise ToolFailed(f"There is no {item}.")
    return STOCK[item]


class Cancel(Struct):
    order: str
    reason: str = ""


async def cancel(order: Cancel, context: Context) -> str:
    """Cancel an order. The key makes a second run of the same call do nothing."""
    return f"{order.order} is cancelled ({context.key})"


operations = operation_tools(
    [Operation(name="orders.cancel", input=Cancel, run=cancel, effect=Effect.KEYED)]
)
tools = Tools([stock, *operations])


async def main() -> None:
    context = Context(call_id="c1", key="s1/c1", deadline=0.0)
    for name, arguments in (
        ("stock", '{"item": "cup"}'),
        ("stock", '{"item": 5}'),
        ("orders.cancel", '{"order": "o7"}'),
    ):
        each = tools.get(name)
        assert each
        read = each.validate(arguments)
        if isinstance(read, Invalid):
            print(read.sentence)
            continue
        result = each.call(read.value, context)
        print(await result if inspect.isawaitable(result) else result)


asyncio.run(main())
