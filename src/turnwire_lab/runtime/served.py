"""The demo's agent: tools that really run. Model, journal and address are flags of its command.

It is served as `turnwire-agent serve turnwire_lab.runtime.served:AGENT`, in the demo's folder.
"""

import asyncio
import re
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta

from turnwire_agent import Agent, Effect, HostSettings, ToolFailed, tool
from turnwire_lab.agents.common.calculator import calculate
from turnwire_lab.agents.common.clock import tell_time
from turnwire_lab.agents.common.search import search
from turnwire_lab.agents.common.tool import ToolFailed as GivenUp
from turnwire_lab.agents.common.toolbox import CHECKOUT, utc_now

SURVEY_S: Final = 6.0
"""How long a survey takes: time enough to kill the process in its middle."""
PAGES_MAX: Final = 200
NOTES: Final = Path("notes.txt")
"""In the folder where the process runs."""
INSTRUCTIONS: Final = (
    "You are the agent of a demo. Use your tools where they help. Answer in one or two sentences."
)

Word = Annotated[str, Meta(min_length=1, max_length=60)]


@tool(effect=Effect.SAFE)
def calculator(expression: Annotated[str, Meta(min_length=1, max_length=200)]) -> Any:
    """Work out an expression, as 12*7."""
    return _done(lambda: calculate({"expression": expression}))


@tool(effect=Effect.SAFE)
def clock(place: Word) -> Any:
    """Tell what time it is in a city, as Tokyo."""
    return _done(lambda: tell_time({"place": place}, now=utc_now))


@tool(effect=Effect.SAFE)
def search_docs(query: Word) -> Any:
    """Search the project's pages for one or two words."""
    return _done(lambda: search({"query": query}, root=CHECKOUT))


@tool(effect=Effect.SAFE)
async def survey(word: Word) -> Any:
    """Read all pages of the project slowly, and count how often they have a word."""
    pages = sorted(CHECKOUT.glob("docs/*.md"))[:PAGES_MAX]
    counts: dict[str, int] = {}
    for page in pages:
        text = await asyncio.to_thread(page.read_text, encoding="utf-8", errors="replace")
        if count := len(re.findall(re.escape(word), text, re.IGNORECASE)):
            counts[page.name] = count
        await asyncio.sleep(SURVEY_S / len(pages))
    if not pages:  # installed without them
        await asyncio.sleep(SURVEY_S)
    return {
        "word": word,
        "times": sum(counts.values()),
        "top_page": max(counts, key=lambda name: counts[name], default=None),
        "pages": len(pages),
    }


@tool(effect=Effect.ONCE, approval="always")
def write_note(text: Annotated[str, Meta(min_length=1, max_length=200)]) -> Any:
    """Write a note into the demo's file of notes."""
    with NOTES.open("a", encoding="utf-8") as notes:
        notes.write(f"{' '.join(text.split())}\n")
    return {"written": text, "to": str(NOTES)}


def _done(work: Any) -> Any:
    """What a tool of the lab gives; its words of a failure are for the model."""
    try:
        return work()
    except GivenUp as failed:
        raise ToolFailed(str(failed)) from None


AGENT: Final = Agent(
    instructions=INSTRUCTIONS,
    tools=(calculator, clock, search_docs, survey, write_note),
    journal="sqlite:sessions.db",
    # Shorter than in production: who watches sees within two seconds that the turn goes on.
    host=HostSettings(lease_s=2.0),
)
