"""What is measured of the agent runtime, by name."""

from typing import Final

MEMORY: Final = "memory"
SQLITE: Final = "sqlite"
JOURNALS: Final = (MEMORY, SQLITE)

RUNNING: Final = "running"
PARKED: Final = "parked"
IDLE: Final = "idle"
KILLED: Final = "SIGKILL"
FOLLOWED: Final = "follower"

TURNS: Final = 200
PER_S: Final = 50
SESSIONS: Final = 10_000


def turns_case(count: int) -> str:
    """So many turns side by side."""
    return f"{count} x {PER_S}/s"


def sessions_case(count: int) -> str:
    """So many sessions in one journal."""
    return f"{count} sessions"


TURNS_CASE: Final = turns_case(TURNS)
SESSIONS_CASE: Final = sessions_case(SESSIONS)
