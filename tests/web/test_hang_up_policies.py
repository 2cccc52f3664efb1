"""Which policy of a hang-up a request may ask for, by `?onDisconnect=`."""

import msgspec
import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import post
from gateway.running import Gateway, settings
from turnwire.core.limits import POLICIES, Hangup, Limits
from turnwire.errors import BadRequest
from turnwire.hang_ups import POLICIES as NAMES
from turnwire.web.gateway import hangup
from turnwire.web.workflow import Run

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
    limits = Limits(on_hangup=Hangup(configured))
    got = set()
    for policy in Hangup:
        try:
            told = hangup(given, limits, policy.value)
        except BadRequest:
            continue
        assert told == msgspec.structs.replace(limits, on_hangup=policy)
        got.add(policy.value)

    assert got == granted
    assert hangup(given, limits, None) is limits


def test_a_workflow_client_has_its_grace_without_asking() -> None:
    """It is the gateway that grants it, and it lasts no longer than the gateway says."""
    given = settings(on_disconnect_allowed="")
    limits = Run(None, None).limits(Limits())

    assert hangup(given, limits, None).on_hangup is Hangup.GRACE
    assert hangup(given, limits, "grace").on_hangup is Hangup.GRACE
    assert hangup(given, limits, "abort").on_hangup is Hangup.ABORT
    with pytest.raises(BadRequest):
        hangup(given, limits, "continue")


def test_the_settings_name_what_there_is() -> None:
    assert tuple(policy.value for policy in POLICIES) == NAMES


@pytest.mark.sockets
@pytest.mark.attack(
    "a hang-up policy that keeps the agent at work, where the operator set none such",
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
