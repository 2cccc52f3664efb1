"""A tool that asks its user a question, and how to try it without any."""

import asyncio
from collections.abc import Sequence

from turnwire_agent import Context, Effect, NoAnswer, tool
from turnwire_agent.tools.arguments import Valid


@tool(effect=Effect.SAFE, timeout_s=3_600)
async def find_flight(to: str, context: Context) -> str:
    """Find a flight."""
    try:
        day = await context.ask(f"When do you fly to {to}?", options=["today", "tomorrow"])
    except NoAnswer:
        day = "today"
    return f"A flight to {to} {day}: LH 400"


async def answer(text: str, /, *, options: Sequence[str] = ()) -> str:
    print(text, *options)
    return options[1]


async def main() -> None:
    read = find_flight.validate('{"to": "Oslo"}')
    assert isinstance(read, Valid)
    print(await find_flight.call(read.value, Context(call_id="c1", key="k1", ask=answer)))


asyncio.run(main())
