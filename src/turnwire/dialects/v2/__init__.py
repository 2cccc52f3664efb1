"""The `v2` dialect: the events of the RFC, broadcast to every socket of a session."""
