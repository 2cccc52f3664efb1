"""The history of a channel, from the hydration."""

from collections.abc import Iterator
from itertools import islice

from turnwire.core import harmless
from turnwire.core.attachments import Attachment
from turnwire.core.errand import Asked, Recall, Told, Transcript
from turnwire.dialects.v2 import hydration
from turnwire.dialects.v2.hydration import Entry
from turnwire.dialects.v2.others import Channel


def transcript(entries: list[Entry], channel: Channel, recall: Recall) -> Transcript:
    """What was said on this channel. A turn that is not over is left out: resume brings it."""
    told = _named(entries, channel)
    if recall.before is not None:
        found = (its_id == recall.before for its_id, _ in told)
        told = told if any(found) else iter(())
    # What is asked for alone is looked into: a session may be long.
    return Transcript(_each_said(list(islice(told, recall.limit))))


def _each_said(newest_first: list[tuple[str, Entry]]) -> Iterator[Asked | Told]:
    while newest_first:  # and what was told is kept no longer
        yield _said(*newest_first.pop())


def _named(entries: list[Entry], channel: Channel) -> Iterator[tuple[str, Entry]]:
    """The prompts and the turns that are over, the newest first, each with its message's id."""
    ours = [entry for entry in entries if entry.channel == channel and entry.id]
    taken = hydration.client_ids(entries)
    first: dict[str, Entry] = {}
    for entry in ours:
        if entry.role == "user":
            first.setdefault(entry.client_message_id or entry.id, entry)
    for entry in reversed(ours):
        if entry.role == "user":
            its_id = entry.client_message_id or entry.id
            # One that was sent twice: an app wants every message under its own id.
            yield its_id if first[its_id] is entry else entry.id, entry
        elif entry.role == "assistant" and not entry.is_open:
            yield hydration.message_id(entry.id, taken), entry


def _said(its_id: str, entry: Entry) -> Asked | Told:
    if entry.role != "user":
        return Told(its_id, hydration.told(entry), entry.prompt_id)
    files = [
        Attachment(mime=file[1], url=file[0], filename=harmless.string(part.filename))
        for part in hydration.parts(entry)
        if (file := part.file)
    ]
    return Asked(its_id, hydration.text(entry), files)
