"""Recording, redaction and replay of streams; detection of drift."""
