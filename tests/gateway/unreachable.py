"""A stream whose agent was not reached: how it ends, and what counts it."""

from gateway.clients import errors, is_whole, outline, post
from gateway.running import Gateway
from gateway.waiting import until


async def ends_unreachable(gateway: Gateway, reason: str) -> None:
    response = await post(gateway)

    assert response.status_code == 200
    assert outline(response.text) == ["start", "error", "finish"]
    assert errors(response.text) == ["Connection failed"]
    assert is_whole(response.text)
    await until(lambda: gateway.ended("unreachable") == 1)
    assert gateway.counted("turnwire_dial_failures_total", reason=reason) == 1
