"""`python -m turnwire_agent`."""

import sys

from turnwire_agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
