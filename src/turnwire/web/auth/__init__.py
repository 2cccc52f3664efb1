"""Authentication and authorization: tokens, callers, and their roles in sessions."""
