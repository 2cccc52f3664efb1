"""How hypothesis is run."""

from hypothesis import Phase, settings

# `--hypothesis-profile verdict`: only whether a property fails, not by which least example.
settings.register_profile("verdict", phases=[Phase.explicit, Phase.generate])
