"""A plugin of pytest: each scenario of `turnwire conform` is a test.

    pytest --turnwire-agent URL --turnwire-conform "--long-prompt … --tool-prompt …"

Its options are in `turnwire.pytest_plugin`, which loads this module if an agent is named: it needs
pytest, which the gateway does without.
"""

import argparse
import shlex
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, NoReturn, assert_never

import pytest

from turnwire.cli import conform
from turnwire.cli.masking import masked
from turnwire.config.files import UnreadableError
from turnwire.conform import report as written
from turnwire.conform.run import Result, Verdict, chosen
from turnwire.errors import SettingsError

CANNOT_PLAY: Final = pytest.ExitCode.USAGE_ERROR


class ScenarioFailed(Exception):  # noqa: N818 - a verdict on the agent, not a fault of the test
    """The agent failed a scenario. The text is that of the report."""


class Arguments(argparse.ArgumentParser):
    """A parser whose errors are pytest's."""

    def error(self, message: str) -> NoReturn:
        raise pytest.UsageError(f"{self.prog}: {message}")


class Conformance:
    """The results of one run. The scenarios are played when the first one is asked for."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments

    @cached_property
    def _played(self) -> tuple[Mapping[str, Result], str]:
        try:
            report, token = conform.play(self.arguments)
        except SettingsError as exc:
            pytest.exit("turnwire conform: " + "; ".join(exc.problems), CANNOT_PLAY)
        except UnreadableError as exc:
            pytest.exit(f"turnwire conform: {exc}", CANNOT_PLAY)
        return {result.name: result for result in report.results}, token

    def check(self, name: str) -> None:
        """Pass, skip or fail as this scenario did."""
        results, token = self._played
        result = results[name]
        match result.verdict:
            case Verdict.PASSED:
                pass
            case Verdict.NOT_APPLICABLE:
                pytest.skip(masked(result.reason, token))
            case Verdict.FAILED:
                raise ScenarioFailed(masked(written.failure(result), token))
            case _:
                assert_never(result.verdict)


class ScenarioItem(pytest.Item):
    """One scenario as a test."""

    def __init__(self, *, conformance: Conformance, scenario: str, **given: Any) -> None:
        super().__init__(**given)
        self._conformance = conformance
        self._scenario = scenario

    def runtest(self) -> None:
        self._conformance.check(self._scenario)

    # Without `style`, which pytest gives to nobody but its own items.
    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        """Show the report's text alone, and no traceback of ours."""
        if isinstance(excinfo.value, ScenarioFailed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[str, int | None, str]:
        return "turnwire conform", None, self.name


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each scenario, if an agent is named."""
    url = config.getoption("--turnwire-agent")
    if url is None:
        return
    parser = Arguments(prog="--turnwire-conform", add_help=False)
    conform.add_arguments(parser)
    others = shlex.split(config.getoption("--turnwire-conform"))
    conformance = Conformance(parser.parse_args(["--agent-url", url, *others]))
    items += [
        ScenarioItem.from_parent(
            session, name=f"turnwire-{name}", conformance=conformance, scenario=name
        )
        for name in chosen(conformance.arguments.only)
    ]
