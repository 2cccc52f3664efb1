"""A fault can only be planted where its text stands; `make mutants` plants them all."""

import pytest

from mutants.mutant import Mutant
from mutants.run import MUTANTS, ROOT


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_text_to_change_stands_exactly_once(mutant: Mutant) -> None:
    source = (ROOT / "src/turnwire" / mutant.file).read_text(encoding="utf-8")

    assert source.count(mutant.old) == 1
    assert mutant.new != mutant.old
