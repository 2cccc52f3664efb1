"""A journal in memory for several replicas, one after another."""

from turnwire_agent.journal.memory import MemoryJournal


class KeptJournal(MemoryJournal):
    """One that none of them closes."""

    async def aclose(self) -> None:
        return
