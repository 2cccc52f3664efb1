"""Which policy of a hang-up a request may ask for, by `?onDisconnect=`."""

import msgspec
import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import post
from gateway.running import Gateway, settings
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.errors import BadRequest
from turnwire.web.context import disconnect_limits
from turnwire.web.routes.workflow_transport import WorkflowClient

ALL = {"abort", "grace", "continue"}


@pytest.mark.parametrize(
    ("configured", "allowed", "granted"),
    [
        ("abort", "", {"abort"}),
        ("grace", "", {"abort", "grace"}),
        ("continue", "", ALL),
        ("abort", "continue", {"abort", "continue"}),
        ("abort", " Grace ", {"abort", "grace"}),
        ("grace", "continue", ALL),
        ("abort", "abort,grace,continue", ALL),
    ],
)
def test_a_request_may_ask_for_what_is_stricter_and_for_what_is_allowed(
    configured: str, allowed: str, granted: set[str]
) -> None:
    given = settings(on_disconnect=configured, on_disconnect_allowed=allowed)
    limits = Limits(on_disconnect=DisconnectPolicy(configured))
    got = set()
    for policy in DisconnectPolicy:
        try:
            got_limits = disconnect_limits(given, limits, policy.value)
        except BadRequest:
            continue
        assert got_limits == msgspec.structs.replace(limits, on_disconnect=policy)
        got.add(policy.value)

    assert got == granted
    assert disconnect_limits(given, limits, None) is limits


def test_a_workflow_client_has_its_grace_without_asking() -> None:
    """It is the gateway that grants it, and it lasts no longer than the gateway says."""
    given = settings(on_disconnect_allowed="")
    limits = WorkflowClient(None, None).limits(Limits())

    assert disconnect_limits(given, limits, None).on_disconnect is DisconnectPolicy.GRACE
    assert disconnect_limits(given, limits, "grace").on_disconnect is DisconnectPolicy.GRACE
    assert disconnect_limits(given, limits, "abort").on_disconnect is DisconnectPolicy.ABORT
    with pytest.raises(BadRequest):
        disconnect_limits(given, limits, "continue")


@pytest.mark.sockets
@pytest.mark.attack(
    "a hang-up policy that keeps the agent running, where the operator does not allow it",
    "400, before the agent is dialled",
)
async def test_a_policy_that_is_not_allowed_prompts_nobody() -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), on_disconnect_allowed="") as gateway,
    ):
        refused = await post(gateway, params={"onDisconnect": "continue"})
        strict = await post(gateway, params={"onDisconnect": "abort"})

    assert (refused.status_code, refused.json()["error"]) == (
        400,
        "This onDisconnect is not allowed here",
    )
    assert strict.status_code == 200
    assert agent.connections == 1
