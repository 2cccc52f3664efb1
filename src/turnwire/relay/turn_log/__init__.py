"""The turn log: keeps the events of running turns, and gives them to readers."""
