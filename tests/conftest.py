"""What a run costs before its first test: each worker collects all of them. And what it leaves."""

import gc
import os
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

# jsonschema would build 38 grammars as it is imported, for which each worker needs seconds. They
# are for the formats `iri` and `iri-reference`, which none of our schemas has.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

_LEFT_OUT: Final = set[Path]()
# `make test` and `make all` name all failed tests once more at their end: a step prints much.
_FAILED: Final = os.environ.get("FAILED_TESTS")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Iterator[Any]:
    """Collect the tests of the gateway without measuring coverage, which would double the time."""
    options = session.config.option
    _LEFT_OUT.update(Path(path).absolute() for path in options.ignore or ())
    options.ignore = None
    tracer = sys.gettrace()
    if tracer is None or getattr(options, "cov_source", None) != ["turnwire"]:
        return (yield)
    _import_all("turnwire")
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Look once for each path; pytest would compare each with each `--ignore`."""
    return collection_path in _LEFT_OUT or None


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[Any]:
    """Do not measure what is marked so.

    In a worker two measure, since coverage starts with each process, and pytest-cov stops its own.
    """
    tracer = sys.gettrace()
    if tracer is None or item.get_closest_marker("no_cover") is None:
        return (yield)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


def pytest_collection_finish(session: pytest.Session) -> None:
    """All tests of a worker stay to the end: the collector need not look at them again and again.

    What changes living objects (`mutation`) has to find them, and runs without workers.
    """
    if hasattr(session.config, "workerinput"):
        gc.collect()
        gc.freeze()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down each test that failed, with the first line of its reason and the way to it."""
    _note(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Write down each file that could not be read."""
    _note(report)


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    if _FAILED is None or not report.failed or "PYTEST_XDIST_WORKER" in os.environ:
        return
    crash = getattr(report.longrepr, "reprcrash", None)
    # Without a place of its own, a reason is the end of what it came through.
    why = crash.message if crash else f"{report.longrepr}".strip().rpartition("\n")[2]
    first = why.partition("\n")[0][:160]
    with Path(_FAILED).open("a") as failed:
        failed.write(f"{report.nodeid}: {first}{_way(report.longrepr)}\n")


def _way(reason: object) -> str:
    """The lines of our tests that a failure came through, the last one last: ` (a.py:7, b.py:9)`.

    A reason such as `TimeoutError` says nothing of what was waited for.
    """
    entries = getattr(getattr(reason, "reprtraceback", None), "reprentries", ())
    places = [place for entry in entries if (place := getattr(entry, "reprfileloc", None))]
    ours = [f"{each.path}:{each.lineno}" for each in places if each.path.startswith("tests/")]
    return f" ({', '.join(ours[-4:])})" if ours else ""


def _import_all(package: str) -> None:
    """Import what is measured while it is: most lines of a module run as it is imported."""
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # of an extra that is not installed
                import_module(module.name)
