"""Every fault that `make mutants` plants."""

import importlib
from pathlib import Path
from typing import Final

from mutants.core import CORE
from mutants.fault import Fault
from mutants.mutant import Mutant
from mutants.others import OTHERS
from mutants.wires import WIRES

_FOLDER: Final = Path(__file__).parent / "faults"

MUTANTS: Final[tuple[Mutant, ...]] = (*CORE, *WIRES, *OTHERS)
"""By the text of the source."""

FAULTS: Final[tuple[Fault, ...]] = tuple(
    fault
    for module in sorted(path.stem for path in _FOLDER.glob("*.py"))
    for fault in importlib.import_module(f"mutants.faults.{module}").FAULTS
)
"""By function."""
