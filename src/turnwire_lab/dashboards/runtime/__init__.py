"""The row and the alerts of the agent runtime, `turnwire-agent`."""
