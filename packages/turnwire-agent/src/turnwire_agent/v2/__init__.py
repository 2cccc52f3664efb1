"""The `v2` wire, as an agent speaks it: frames from events, and what a gateway asks for. Pure."""
