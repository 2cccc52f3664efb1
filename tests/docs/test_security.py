"""Every promise of SECURITY.md names the tests that hold it, and each of them exists."""

import re
from pathlib import Path

import pytest

from turnwire_lab.docs.marks import functions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
LISTED = re.compile(r"^(\d+)\. `(tests/\S+\.py)::(test_\w+)`$", re.MULTILINE)
NAMED = re.compile(r" \[(\d+)\]")


def section(heading: str) -> str:
    return re.split(r"\n##? ", PAGE.split(f"\n{heading}\n", 1)[1], maxsplit=1)[0]


def sentences(text: str) -> list[str]:
    """What is said in lists, one sentence or entry of a list after the other."""
    entries = re.split(r"\n\s*(?=[-*] )|\n\n", text)
    plain = [" ".join(each.split()).lstrip("-* ") for each in entries if not each.startswith("#")]
    said = [part for each in plain for part in re.split(r"(?<=\.) (?=[A-Z])", each)]
    return [part for part in said if part and not part.endswith(":") and not opens_list(part)]


def opens_list(said: str) -> bool:
    """Whether it says nothing without the list below it."""
    return said.endswith((" checks", " cannot"))


PROMISES = sentences(section("## What the gateway promises, and tests").split("\n\n", 1)[1])
_ATTACKERS = section("## Who attacks, and across which boundary")
LIMITS = sentences(_ATTACKERS.split("It cannot", 1)[1].split("\n\n", 1)[0])


@pytest.mark.parametrize("promise", [each for each in PROMISES + LIMITS if "](" not in each])
def test_a_promise_names_a_test(promise: str) -> None:
    assert NAMED.search(promise), promise


def test_there_are_promises() -> None:
    assert len(PROMISES) > 20
    assert any("signed for one user" in each for each in PROMISES)
    assert any("memory" in each for each in LIMITS)


def test_a_sentence_without_a_test_is_found() -> None:
    said = sentences("* All is well [1].\n* So it is. It stays so [2]:\n  - always [2],\n  - here.")

    assert [each for each in said if not NAMED.search(each)] == ["So it is.", "here."]


@pytest.mark.parametrize("listed", LISTED.findall(PAGE), ids=lambda row: row[0])
def test_a_test_that_is_named_exists(listed: tuple[str, str, str]) -> None:
    number, path, name = listed
    found = functions((ROOT / path).read_text(encoding="utf-8"))

    assert name in {test.name for test in found}, f"[{number}] {path}"


def test_the_list_is_what_is_named() -> None:
    numbers = [number for number, _, _ in LISTED.findall(PAGE)]

    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert set(NAMED.findall(PAGE)) == set(numbers)
    assert section("## The tests").strip().count("\n") + 1 == len(numbers)
