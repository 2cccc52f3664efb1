"""Settings that a library would refuse are told before anything starts."""

import pytest

from gateway.running import settings
from turnwire.web.startup_check import problems


def test_what_every_library_takes_has_no_problem() -> None:
    assert problems(settings()) == []
    assert problems(settings(rates_url="redis://h:1/0", turns_per_minute=1, tracing="otlp")) == []


def test_options_that_the_store_does_not_know_are_told_without_its_password() -> None:
    (problem,) = problems(settings(rates_url="redis://:pw@h:1?nonsense=1", turns_per_minute=1))

    assert problem.startswith("TURNWIRE_RATES_URL: ")
    assert "pw" not in problem


def test_a_variable_of_tracing_that_is_not_taken_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "-1")

    (problem,) = problems(settings(tracing="otlp"))

    assert problem.startswith("TURNWIRE_TRACING: an OTEL_* variable is not taken: ")
    assert "\n" not in problem
