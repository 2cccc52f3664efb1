"""The example of docs/write-a-dialect.md, and its suite, as docs/test-a-dialect.md has it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

FOLDER: Final = Path(__file__).parents[2] / "examples/dialects/minimal"

if TYPE_CHECKING:
    import minimal_dialect as example
    from minimal_dialect_test import TestMinimal as MinimalSuite
else:
    sys.path.insert(0, str(FOLDER))
    try:
        import minimal_dialect as example
        from minimal_dialect_test import TestMinimal as MinimalSuite
    finally:
        sys.path.remove(str(FOLDER))

__all__ = ["MinimalSuite", "example"]
