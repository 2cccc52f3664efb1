"""turnwire: a stateless gateway from AI SDK clients to agent session backends.

Nothing is re-exported here: import each name from its own module.
"""

__version__ = "0.1.0"
