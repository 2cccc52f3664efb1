"""The server of sessions: who asks, what is next, who follows. It speaks `v2` to the gateway."""
