"""What happens between two calls of a model. Pure: no I/O, no clock."""
