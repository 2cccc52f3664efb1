"""Room for the agent's side of turnwire. Nothing is in it yet."""

from importlib.metadata import version

__version__ = version("turnwire-agent")
