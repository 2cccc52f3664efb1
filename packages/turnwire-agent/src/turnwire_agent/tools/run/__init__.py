"""Runs tools: with limits of time and of number, and a way to stop them."""
