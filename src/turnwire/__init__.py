"""turnwire: a stateless gateway from AI SDK clients to agents.

Nothing is re-exported here: import each name from its own module.

PYTEST_DONT_REWRITE: else pytest, run by a program that has imported this, warns of it, as turnwire
has a plugin.
"""

__version__ = "0.2.0"
