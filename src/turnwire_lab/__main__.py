"""`python -m turnwire_lab`: the same as the `turnwire-lab` command."""

import sys

from turnwire_lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
