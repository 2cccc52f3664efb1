"""How many prompts of a session wait."""

from runtime.host.hosted import QUICK, Scripted, echo, hosted
from turnwire_agent.host.commands import command
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.session.events import Prompted


async def test_prompts_that_came_at_once_at_several_replicas_are_held_to_the_bound() -> None:
    """Each replica has let them in, since none of them waited yet."""
    journal = MemoryJournal()
    await journal.start()
    for number in range(5):
        prompted = Prompted(entry_id=f"e{number}", prompt_id=f"p{number}", content="hello")
        await journal.put("s1", command(f"c{number}", prompted))

    settings = QUICK.__class__(lease_s=0.6, queue=3)
    async with hosted(Scripted(echo), journal, settings) as host, host.socket() as socket:
        await socket.until("complete", promptId="p2")
        async with host.socket() as later:
            entries = later.seen[0]["session"]["messages"]
            prompts = [each["promptId"] for each in entries if each["role"] == "user"]
            assert prompts == ["p0", "p1", "p2"]
