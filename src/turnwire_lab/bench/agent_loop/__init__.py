"""The agent runtime before a gateway: turns from a model's server to the sockets of sessions."""
