"""Parses and checks the body of a chat request."""
