"""A plugin of pytest: `-p mutants.planting --planted NAME` runs the tests with one fault."""

import os
from contextlib import ExitStack

import pytest

from mutants.every import FAULTS
from mutants.fault import planted


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--planted", metavar="NAME", required=True, help="the fault to plant")


def pytest_configure(config: pytest.Config) -> None:
    name = config.getoption("--planted")
    fault = next((fault for fault in FAULTS if fault.name == name), None)
    if fault is None:
        raise pytest.UsageError(f"no fault is called {name!r}")
    os.environ["PLANTED"] = name  # for processes that are told to plant it, too
    stack = ExitStack()
    try:
        stack.enter_context(planted(fault))
    except LookupError as missing:
        raise pytest.UsageError(str(missing)) from missing
    config.add_cleanup(stack.close)
