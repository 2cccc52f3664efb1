"""How hypothesis is run."""

from hypothesis import HealthCheck, Phase, settings

# `--hypothesis-profile verdict`: only whether a property fails, not by which least example.
settings.register_profile(
    "verdict",
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
)
