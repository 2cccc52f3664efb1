"""One call of a tool: its id, its input, its approval, its effect."""
