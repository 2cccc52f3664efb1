"""What turnwire is compared with: other ways to put a WebSocket's frames into a response."""
