"""The connection to an agent: the port, DNS, the dial, the transports."""
