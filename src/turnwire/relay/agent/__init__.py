"""The connection to an agent: DNS, dial, WebSocket."""
