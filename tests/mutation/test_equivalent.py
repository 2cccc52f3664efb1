"""The kept list names changes that can be made, and says why nobody can notice them."""

from pathlib import Path
from typing import Final

from mutation.changes import changes
from mutation.equivalent import equivalent

SOURCE: Final = Path(__file__).parents[2] / "src/turnwire"


def test_each_stands_in_the_code() -> None:
    listed = equivalent()
    files = {SOURCE / name.partition(":")[0] for name in listed}
    made = {change.name for change in changes(sorted(files), SOURCE)}

    assert set(listed) - made == set(), "no longer in the code: leave them out"


def test_each_has_a_reason() -> None:
    assert all(len(reason) > 20 for reason in equivalent().values())
