"""The agent of this package, in the host of the agent runtime."""
