"""A fault can only be planted where its text, or its function, stands; `make mutants` does."""

import inspect
import os
import subprocess
import sys
from collections import Counter

import pytest

from mutants.every import FAULTS, MUTANTS
from mutants.fault import Fault, Function, found, function_of, planted
from mutants.mutant import Mutant
from mutants.run import ALL, ROOT
from turnwire.core import told
from turnwire.core.dialect import Tally
from turnwire.dialects.v2 import wire


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_text_to_change_stands_exactly_once(mutant: Mutant) -> None:
    source = (ROOT / "src/turnwire" / mutant.file).read_text(encoding="utf-8")

    assert source.count(mutant.old) == 1
    assert mutant.new != mutant.old


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_function_stands_and_becomes_another_with_its_parameters(fault: Fault) -> None:
    right = function_of(found(fault.target)[2])

    with planted(fault):
        wrong = function_of(found(fault.target)[2])
        assert wrong.__code__ is not right.__code__
        assert inspect.iscoroutinefunction(wrong) == inspect.iscoroutinefunction(right)
        assert parameters(wrong) in (parameters(right), ["args"], ["args", "kwargs"])
    assert function_of(found(fault.target)[2]) is right


def parameters(function: Function) -> list[str]:
    return [name.lstrip("_") for name in inspect.signature(function).parameters]


def test_every_name_is_of_one_fault_alone() -> None:
    assert max(Counter(one.name for one in ALL).values()) == 1


def nothing(_right: Function) -> Function:
    return lambda *_: None


@pytest.mark.parametrize(
    "target",
    [
        "turnwire.core.nowhere:f",
        "turnwire.core.told:Gone.missing",
        "turnwire.core.told:Told.gone",
        "turnwire.core.told:Told",
    ],
)
def test_a_target_that_is_no_function_fails_at_once(target: str) -> None:
    with pytest.raises(LookupError, match=target), planted(Fault("gone", target, nothing)):
        pass


def test_a_method_is_another_while_it_is_planted() -> None:
    fault = Fault("silent", "turnwire.core.told:Told.missing", nothing)

    with planted(fault):
        assert told.Told().missing("all") is None

    assert told.Told().missing("all") == "all"


def test_whoever_imported_the_function_by_its_name_has_the_wrong_one() -> None:
    tally = Tally()

    with planted(Fault("nobody counts", "turnwire.dialects.v2.frames:count", nothing)):
        vars(wire)["count"](b'{"type":"news"}', tally)
    assert not tally.unrecognised

    vars(wire)["count"](b'{"type":"news"}', tally)
    assert tally.unrecognised == {"news": 1}


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
            "tests/core/test_told.py",
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert fails in ran.stdout + ran.stderr
