"""What all dialects share: the schema of a wire, and the check of long frames."""
