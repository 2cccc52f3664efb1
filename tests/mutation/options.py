"""How the tests are run, where a change is asked about."""

import os
from pathlib import Path
from typing import Final

OPTIONS: Final = (
    *("-p", "mutation.properties", "-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:xdist"),
    *("-m", "not long and not sockets", "-o", "timeout=0", "-s", "--no-header", "--assert=plain"),
)
"""A time limit on the clock would count a busy machine as a test that fails.

To explain an assertion takes longer than to make it, and nobody reads it.
"""


def environment(source: Path) -> dict[str, str]:
    """That of a process which imports the code below `source`, whatever is installed."""
    tests = Path(__file__).parents[1]
    paths = [str(source.parent), str(tests), os.environ.get("PYTHONPATH", "")]
    # If coverage measures this process, it shall not measure that one: `contexts` does.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
