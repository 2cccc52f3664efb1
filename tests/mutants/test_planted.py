"""A fault can only be planted where its function stands; `make mutants` does it."""

import inspect
import subprocess
import sys
from collections import Counter

import pytest

from mutants.every import FAULTS
from mutants.fault import Fault, Function, found, function_of, planted
from mutants.run import ROOT, environment
from mutants.wrong import nothing_is_done
from turnwire.core.ui_stream import sent_text
from turnwire.dialects.v2 import frames, turn
from turnwire.dialects.v2.questions import TurnRef


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_function_stands_and_becomes_another_with_its_parameters(fault: Fault) -> None:
    right = function_of(found(fault.target)[2])

    with planted(fault):
        wrong = function_of(found(fault.target)[2])
        assert what_it_does(wrong) != what_it_does(right)
        assert inspect.iscoroutinefunction(wrong) == inspect.iscoroutinefunction(right)
        assert parameters(wrong) in (parameters(right), ["args"], ["args", "kwargs"])
    assert function_of(found(fault.target)[2]) is right


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_tests_that_are_asked_are_there(fault: Fault) -> None:
    assert [test for test in fault.tests if not (ROOT / "tests" / test).exists()] == []


def what_it_does(function: Function) -> tuple[object, ...]:
    code = function.__code__
    return code.co_code, code.co_consts, code.co_names, code.co_freevars


def parameters(function: Function) -> list[str]:
    return [name.lstrip("_") for name in inspect.signature(function).parameters]


def test_every_name_is_of_one_fault_alone() -> None:
    assert max(Counter(one.name for one in FAULTS).values()) == 1


@pytest.mark.parametrize(
    "target",
    [
        "turnwire.core.nowhere:f",
        "turnwire.core.ui_stream.sent_text:Gone.unsent_suffix",
        "turnwire.core.ui_stream.sent_text:SentText.gone",
        "turnwire.core.ui_stream.sent_text:SentText",
    ],
)
def test_a_target_that_is_no_function_fails_at_once(target: str) -> None:
    with pytest.raises(LookupError, match=target), planted(Fault("gone", target, nothing_is_done)):
        pass


def test_a_method_is_another_while_it_is_planted() -> None:
    fault = Fault(
        "silent", "turnwire.core.ui_stream.sent_text:SentText.unsent_suffix", nothing_is_done
    )

    with planted(fault):
        assert sent_text.SentText().unsent_suffix("all") is None

    assert sent_text.SentText().unsent_suffix("all") == "all"


def test_whoever_imported_the_function_by_its_name_has_the_wrong_one() -> None:
    frame = frames.Complete("t1")

    with planted(
        Fault("nothing is named", "turnwire.dialects.v2.frames:turn_ref", nothing_is_done)
    ):
        assert vars(turn)["turn_ref"](frame) is None

    assert vars(turn)["turn_ref"](frame) == TurnRef("t1")


@pytest.mark.parametrize(
    ("name", "fails"), [("white space is told again", "1 failed"), ("?", "no fault is")]
)
def test_the_plugin_plants_it_before_the_tests_are_imported(name: str, fails: str) -> None:
    options = ["-q", "-p", "no:cov", "-p", "no:cacheprovider", "-p", "mutants.planting"]
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            *options,
            "--planted",
            name,
            "tests/core/ui_stream/test_sent_text.py",
        ],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert fails in ran.stdout + ran.stderr
