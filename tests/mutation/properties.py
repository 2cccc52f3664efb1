"""A plugin of pytest: properties are asked about the same examples each time, and not shrunk."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """After tests/core/conftest.py, which loads another."""
    settings.register_profile(
        "mutation",
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
        deadline=None,
        database=None,
        derandomize=True,
    )
    settings.load_profile("mutation")


def pytest_collection_finish() -> None:
    """What hypothesis reads once in a process, it has read before tests run."""
    settings(max_examples=1, database=None)(given(st.text())(lambda _: None))()
