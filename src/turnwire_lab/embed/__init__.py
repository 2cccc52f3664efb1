"""A small site of its own origin, with the widget on it."""
