"""The entry point for pytest: `pytest --turnwire-agent URL` plays `turnwire conform` as tests.

Every pytest that has turnwire beside it imports this module, so it imports nothing else of ours
unless an agent is named.
"""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("turnwire")
    group.addoption("--turnwire-agent", metavar="URL", help="play scenarios against this agent")
    group.addoption(
        "--turnwire-conform",
        metavar="ARGUMENTS",
        default="",
        help="the other arguments of `turnwire conform`, in one string",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Load the plugin itself, if an agent is named."""
    if config.getoption("--turnwire-agent") is None:
        return
    if config.getoption("dist", "no") != "no":  # each worker would play all, at the same time
        import pytest  # noqa: PLC0415 (this module is imported before pytest has begun)

        raise pytest.UsageError("turnwire conform plays one scenario at a time: not with -n")
    from turnwire.cli import pytest_conform  # noqa: PLC0415 (a second, which only its users spend)

    if not config.pluginmanager.is_registered(pytest_conform):  # it may be named by `-p`
        config.pluginmanager.register(pytest_conform, "turnwire-conform")
