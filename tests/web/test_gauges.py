"""Metrics that are there before anything happens, and those that are read when somebody asks."""

import pytest
from prometheus_client import CollectorRegistry

from gateway.agent import ScriptedAgent, begin_only
from gateway.asgi import Exchange
from gateway.clients import chatting, new_client, post
from gateway.running import Gateway, settings
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.core.turn.outcome import Outcome
from turnwire.metrics import Telemetry
from turnwire.relay.agent.failures import DialFailure
from turnwire.web.app import create_app
from turnwire.web.gauges import ACCESS_RESULTS, CODES, ROUTES
from turnwire.web.health import Health

pytestmark = pytest.mark.sockets


def value(gateway: Gateway, name: str, **labels: str) -> float | None:
    return gateway.telemetry.registry.get_sample_value(name, labels)


async def test_all_labels_of_closed_sets_are_there_from_the_start() -> None:
    closed = {
        ("turnwire_streams_total", "outcome"): [outcome.value for outcome in Outcome],
        ("turnwire_requests_total", "route"): ROUTES,
        ("turnwire_refusals_total", "code"): CODES,
        ("turnwire_dial_failures_total", "reason"): [reason.value for reason in DialFailure],
        ("turnwire_access_check_seconds_count", "result"): ACCESS_RESULTS,
        ("turnwire_jwks_fetches_total", "result"): ["ok", "failed"],
        ("turnwire_frames_unrecognised_total", "type"): ["other"],
        ("turnwire_agent_requests_total", "connection"): ["new", "kept", "again"],
    }
    async with Gateway() as gateway:
        for (name, label), values in closed.items():
            assert {value(gateway, name, **{label: each}) for each in values} == {0.0}, name


async def test_limits_are_told_and_none_is_infinite() -> None:
    async with Gateway(max_streams=7, held_bytes=0, lameduck_s=1) as gateway:
        assert value(gateway, "turnwire_streams_limit") == 7
        assert value(gateway, "turnwire_held_bytes_limit") == float("inf")
        assert value(gateway, "turnwire_stopping_limit_seconds") == 1 + 5 + 5 + 5  # drain, stall


async def test_places_follow_the_streams() -> None:
    async with ScriptedAgent(begin_only) as agent, Gateway(agent.url()) as gateway:
        async with chatting(gateway) as chat:
            await chat.sees("Hello")
            assert value(gateway, "turnwire_streams_admitted") == 1
            assert value(gateway, "turnwire_streams_active") == 1
        await until(lambda: value(gateway, "turnwire_streams_admitted") == 0)


async def test_a_stop_is_told_with_how_long_it_takes() -> None:
    async with ScriptedAgent(begin_only) as agent, Gateway(agent.url(), drain_s=0.2) as gateway:
        assert value(gateway, "turnwire_ready") == 1
        assert value(gateway, "turnwire_stopping_seconds") == 0
        async with chatting(gateway) as chat:
            await chat.sees("Hello")
            gateway.stop()
            await until(lambda: value(gateway, "turnwire_ready") == 0)
            first = value(gateway, "turnwire_stopping_seconds")
            assert first is not None
            await until(lambda: (value(gateway, "turnwire_stopping_seconds") or 0) > first)
            await chat.end()
        await gateway.stopped()


async def test_a_bug_is_counted_as_such() -> None:
    class BrokenAccess:
        async def grant(self, *_: object) -> None:
            raise KeyError("a bug")

    telemetry = Telemetry(CollectorRegistry())
    app = create_app(settings(), access=BrokenAccess(), telemetry=telemetry)
    headers = [("authorization", bearer()["authorization"])]
    with pytest.raises(KeyError):
        await Exchange(app, headers=headers).run()

    counted = telemetry.registry.get_sample_value
    assert counted("turnwire_refusals_total", {"code": "internal"}) == 1


def test_who_is_not_stopping_stops_for_no_time() -> None:
    health = Health()
    assert health.stopping_s == 0
    health.stop()
    assert not health.is_ready


async def test_a_failed_dial_of_an_errand_is_counted_too() -> None:
    async with Gateway() as gateway:
        async with new_client() as client:
            url = f"{gateway.url}/api/sessions/s1/stop"
            assert (await client.post(url, headers=bearer())).status_code == 503
        assert value(gateway, "turnwire_dial_failures_total", reason="connect") == 1
        assert value(gateway, "turnwire_requests_total", route="stop") == 1


async def test_a_plain_turn_leaves_its_times() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        await post(gateway)
        await until(lambda: gateway.ended("completed") == 1)
        for name in ("turn_wait", "dial", "relay", "time_to_first_byte", "turn_duration"):
            assert value(gateway, f"turnwire_{name}_seconds_count"), name
        assert value(gateway, "turnwire_written_bytes_total")
