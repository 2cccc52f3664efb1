"""How a host behaves, and its bounds."""

from msgspec import Struct


class HostSettings(Struct, frozen=True, kw_only=True):
    """Settings of one replica. The defaults suit a chat for people."""

    lease_s: float = 10.0
    """How long a session waits for a process that died: a lease lives so long without renewal."""
    turns: int = 1_000
    """Most turns that run at once. Further prompts wait, for this replica or for another."""
    sessions: int = 10_000
    """Most sessions with sockets or turns at once."""
    queue: int = 100
    """Most prompts of one session that wait."""
    queue_bytes: int = 64 * 1024 * 1024
    """Most bytes of the waiting prompts of one session, with their files. A single one may be
    larger."""
    private: bool = False
    """A session belongs to the first user who sends a prompt. To others it does not exist."""
    pending_bytes: int = 256 * 1024
    """How many bytes of one turn may be on their way to the journal before its driver waits."""
    socket_bytes: int = 16 * 1024 * 1024
    """How many bytes may wait for one socket before it is closed. A single frame may be larger."""
    frame_bytes: int = 32 * 1024 * 1024
    """Longest frame that a gateway may send, in bytes."""
    sockets: int = 10_000
    """Most sockets at once."""
    stop_s: float = 1.0
    """How long a driver may take to end what runs, when its turn is stopped."""
    retry_s: float = 0.5
    """How long after a failed write to the journal it is tried again. It doubles, up to 10 s."""
