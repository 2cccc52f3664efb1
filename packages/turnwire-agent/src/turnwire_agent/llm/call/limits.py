"""What a call waits for and what it takes, at most."""

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds of one attempt."""

    connect_s: float = 10.0
    """Until the connection stands, with its TLS, and until one of the pool is free."""
    read_s: float = 180.0
    """Longest silence: until the answer's head is there, and between two reads of its body. Models
    think, and some servers send nothing meanwhile."""
    answer_bytes: int = 64 * 1024 * 1024
    """Of an answer, unpacked."""
    error_bytes: int = 64 * 1024
    """Of the body of an error. What is behind them is not read."""
