"""turnwire: a stateless gateway from AI SDK clients to agent session backends.

Nothing is re-exported here: import from the module that owns the thing.
"""

__version__ = "0.1.0"
