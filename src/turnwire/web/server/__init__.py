"""The HTTP server: uvicorn with our protocol class, and the ASGI middleware around the app."""
