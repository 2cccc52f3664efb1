"""What a model may call: the contract of a tool, its schema and its name on each wire."""
