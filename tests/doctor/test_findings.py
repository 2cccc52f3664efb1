"""Each code has its words, and stands in the docs."""

from pathlib import Path

from turnwire.doctor.findings import AILMENTS, Code


def test_every_code_is_explained() -> None:
    assert set(AILMENTS) == set(Code)


def test_every_code_is_in_the_docs() -> None:
    page = (Path(__file__).parents[2] / "docs/doctor.md").read_text(encoding="utf-8")

    assert {code for code in Code if f"`{code.value}`" not in page} == set()
