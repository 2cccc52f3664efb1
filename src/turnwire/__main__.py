"""`python -m turnwire`."""

import sys

from turnwire.cli import main

if __name__ == "__main__":
    sys.exit(main())
