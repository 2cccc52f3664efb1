"""The HTTP side: authentication, request bodies, routes, and the composition root."""
