"""The conversation: where prompts come from, what Ctrl-C means when, how it all ends.

Everything here is synchronous on purpose: Ctrl-C then arrives exactly where the program waits, in
the prompt or in the stream, and leaving the stream closes it.
"""

import sys
from collections.abc import Iterable, Iterator

from rich.console import Console

from turnwire_lab.chat.screen import Screen
from turnwire_lab.chat.stop import stoppable
from turnwire_lab.chat.wire import Conversation, Ending, new_client


def chat(*, url: str, session: str, token: str | None, once: str | None) -> int:
    """Talk until there is nothing more to say; 1 if a turn did not finish well."""
    screen = Screen(Console(highlight=False))
    with new_client() as client:
        conversation = Conversation(client, url=url, session=session, token=token)
        if once is not None:
            return _all(conversation, screen, [once])
        if not sys.stdin.isatty():
            prompts = (line.strip() for line in sys.stdin)
            return _all(conversation, screen, (prompt for prompt in prompts if prompt))
        screen.say(f"Session {session} at {url}", style="dim")
        screen.say("Ctrl-C stops a turn; Ctrl-C or Ctrl-D here leaves.", style="dim")
        for prompt in _typed(screen):
            _one(conversation, screen, prompt)
    return 0


def _all(conversation: Conversation, screen: Screen, prompts: Iterable[str]) -> int:
    """Every prompt in turn, also after one that failed, but not after Ctrl-C."""
    status = 0
    for prompt in prompts:
        ending = _one(conversation, screen, prompt)
        if ending is not Ending.FINISHED:
            status = 1
        if ending is Ending.STOPPED:
            break
    return status


def _one(conversation: Conversation, screen: Screen, prompt: str) -> Ending:
    screen.wait("waiting")
    try:
        with stoppable(screen.show) as show:
            ending, why = conversation.turn(prompt, show)
    except KeyboardInterrupt:
        ending, why = Ending.STOPPED, ""
    screen.ended(ending, why)
    return ending


def _typed(screen: Screen) -> Iterator[str]:
    while True:
        try:
            prompt = screen.console.input("[bold cyan]you >[/] ").strip()
        except (EOFError, KeyboardInterrupt):
            screen.console.print()
            return
        if prompt:
            yield prompt
