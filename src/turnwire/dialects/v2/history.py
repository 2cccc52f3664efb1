"""The history operation: reads the history of a channel from `init`."""

from collections.abc import Iterator, Sequence
from itertools import islice

from turnwire.core import safe_json
from turnwire.core.body.attachments import Attachment
from turnwire.core.operations import History, HistoryPrompt, HistoryTurn
from turnwire.core.rejection import Rejection
from turnwire.core.requests import Channel, HistoryRequest
from turnwire.dialects.v2 import frames, init, progress
from turnwire.dialects.v2.init import Entry
from turnwire.dialects.v2.operation import Operation


class HistoryOperation(Operation):
    """Sends nothing: `init` holds the history."""

    def __init__(self, request: HistoryRequest) -> None:
        super().__init__(request)
        self.result: History | Rejection | None = None
        self._history_request = request

    def connection_lost(self) -> None:
        self.result = Rejection.SILENT

    def _init_received(self, _frame: frames.Init, entries: list[Entry]) -> Sequence[bytes]:
        self.result = channel_history(entries, self.channel, self._history_request)
        return ()

    def _without_init(self) -> Sequence[bytes]:
        self.result = Rejection.UNSUPPORTED
        return ()


def channel_history(entries: list[Entry], channel: Channel, request: HistoryRequest) -> History:
    """The prompts and turns of a channel, oldest first. An open turn is left out: resume sends it.

    At most `request.limit` messages, before the message `request.before`.
    """
    newest_first = _with_message_ids(entries, channel)
    if request.before is not None:
        matches = (message_id == request.before for message_id, _ in newest_first)
        newest_first = newest_first if any(matches) else iter(())
    # Only the requested entries are converted, since a session may be long.
    return History(_messages(list(islice(newest_first, request.limit))))


def _messages(newest_first: list[tuple[str, Entry]]) -> Iterator[HistoryPrompt | HistoryTurn]:
    while newest_first:  # an entry is dropped from the list as soon as it is converted
        yield _message(*newest_first.pop())


def _with_message_ids(entries: list[Entry], channel: Channel) -> Iterator[tuple[str, Entry]]:
    """The prompts and the finished turns of a channel, newest first, each with its message id."""
    ours = [entry for entry in entries if entry.channel == channel and entry.id]
    client_ids = init.client_ids(entries)
    first_with_id: dict[str, Entry] = {}
    for entry in ours:
        if entry.role == "user":
            first_with_id.setdefault(entry.client_message_id or entry.id, entry)
    for entry in reversed(ours):
        if entry.role == "user":
            message_id = entry.client_message_id or entry.id
            # A prompt may have been sent twice. An app needs a unique id for each message.
            yield message_id if first_with_id[message_id] is entry else entry.id, entry
        elif entry.role == "assistant" and not entry.is_open:
            yield init.message_id(entry.id, client_ids), entry


def _message(message_id: str, entry: Entry) -> HistoryPrompt | HistoryTurn:
    if entry.role != "user":
        all_events = progress.turn_events(entry)
        return HistoryTurn(message_id, progress.history_events(entry), entry.prompt_id, all_events)
    files = [
        Attachment(mime=file[1], url=file[0], filename=safe_json.string(part.filename))
        for part in init.parts(entry)
        if (file := part.file)
    ]
    return HistoryPrompt(message_id, init.prompt_text(entry), files)
