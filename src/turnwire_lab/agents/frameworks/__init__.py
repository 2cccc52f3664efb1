"""Agents of frameworks that speak AG-UI: the files of examples/agents, each in its environment.

They are not part of the wheel. `make agents` makes the environments, `make test` two of them.
"""
