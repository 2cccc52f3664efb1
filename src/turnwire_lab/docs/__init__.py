"""The tables of README.md and docs/, made from the code, so that they cannot lag behind it."""
