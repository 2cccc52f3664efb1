"""How hypothesis is run."""

from hypothesis import HealthCheck, Phase, settings

# `--hypothesis-profile verdict`: only whether a property fails, not by which least example.
# A machine that stands still for a while is no fault of a test, so no time is looked at.
SLOW = [HealthCheck.too_slow]
settings.register_profile("patient", suppress_health_check=SLOW, deadline=None)
settings.load_profile("patient")
settings.register_profile(
    "verdict", phases=[Phase.explicit, Phase.generate], suppress_health_check=SLOW, deadline=None
)
