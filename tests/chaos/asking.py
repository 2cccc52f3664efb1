"""One turn of a gateway, read to its end."""

from gateway.clients import Listens
from gateway.reading import App


async def answer(gateway: Listens, *, session: str = "s1", user: str = "u1") -> bytes:
    """Its body."""
    async with App(gateway, session=session, user=user).prompt("hi") as chat:
        return await chat.end()
