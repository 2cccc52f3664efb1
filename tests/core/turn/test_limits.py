"""The limits of a stream: those that a request may choose, and those of the settings."""

from turnwire.config.settings import Settings
from turnwire.core.turn.limits import POLICIES, DisconnectPolicy, Limits

DERIVED = {
    "expires_at",  # the token's
    "idle_s",  # the dialect's
    "hold_s",  # the dial's time, or that of `init`
    "on_disconnect",  # a word in the settings
    "holds_turn",  # the dialect's
    "is_kept",  # the turn log's
}


def test_a_request_may_ask_for_every_policy_but_that_of_a_watcher() -> None:
    assert set(POLICIES.values()) == set(DisconnectPolicy) - {DisconnectPolicy.LET_GO}
    assert next(iter(POLICIES)) == DisconnectPolicy.ABORT.value


def test_the_defaults_are_those_of_the_settings() -> None:
    defaults = {field: getattr(Limits(), field) for field in Limits.__struct_fields__}
    settings = {
        name: Settings.__struct_defaults__[at - len(Settings.__struct_fields__)]
        for at, name in enumerate(Settings.__struct_fields__)
        if name in defaults and name not in DERIVED
    }

    assert set(settings) == set(defaults) - DERIVED
    assert {name: float(value) for name, value in settings.items()} == {
        name: defaults[name] for name in settings
    }
