"""The console script. Where the lab's libraries are not installed, it prints which are missing."""

import sys


def main() -> int:
    """Run the command line. Exit code 1 if a library is not installed."""
    try:
        from turnwire_lab.cli import main as run  # noqa: PLC0415 (the point of this module)
    except ModuleNotFoundError as missing:
        print(
            f"turnwire-lab: {missing.name} is not installed: pip install turnwire-lab",
            file=sys.stderr,
        )
        return 1
    return run()
