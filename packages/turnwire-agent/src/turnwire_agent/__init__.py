"""The agent's side of turnwire: one road to every model, tools, and a command line."""

from importlib.metadata import version

__version__ = version("turnwire-agent")
