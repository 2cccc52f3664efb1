"""What an application offers to a model: operations, and a tool."""

from msgspec import Struct

from turnwire_agent import Operation, tool


class Ship(Struct):
    """Ship an order."""

    order: str


def ship(order: Ship) -> str:
    """Ship an order."""
    return order.order


@tool(secrets=["password"])
def cancel(order: str, password: str) -> str:
    """Cancel an order."""
    return f"{order} is cancelled, by a password of {len(password)} characters."


operations = [Operation(name="orders.ship", input=Ship, run=ship)]
