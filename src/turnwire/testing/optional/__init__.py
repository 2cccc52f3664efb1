"""Tests that need more of an author than scripts: an agent that asks, two streams of a session."""
