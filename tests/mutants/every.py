"""Every fault that `make mutants` plants."""

import importlib
from pathlib import Path
from typing import Final

from mutants.fault import Fault

_FOLDER: Final = Path(__file__).parent / "faults"

FAULTS: Final[tuple[Fault, ...]] = tuple(
    fault
    for module in sorted(path.stem for path in _FOLDER.glob("*.py"))
    for fault in importlib.import_module(f"mutants.faults.{module}").FAULTS
)
"""Those of each module in mutants/faults/, in the order of their names."""
