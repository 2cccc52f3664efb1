"""Tests of a turn that is read again in the turn log."""

from collections.abc import Sequence
from random import Random

from turnwire.core.requests import ResumeRequest
from turnwire.core.turn_log import entries
from turnwire.core.turn_log.entries import Head, Joined
from turnwire.core.turn_log.protocol import ReaderOutput, ReaderProtocol
from turnwire.core.turn_log.tee import Tee
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.testing.base import PROMPT_ID, about
from turnwire.testing.client_model import Client, need
from turnwire.testing.optional.answering import AskingAgent
from turnwire.testing.playing import Played
from turnwire.testing.scripts import Script


class TurnRecord:
    """The entries of a turn, as a turn log keeps them: each apart."""

    def __init__(self) -> None:
        self.rows: list[bytes] = []
        self.has_failed = False
        """Whether the turn never began."""

    def append(self, packed: bytes, count: int) -> None:
        self.rows += [entries.pack(each) for each in entries.read(entries.frame(packed, count))]

    def append_texts(self, texts: Sequence[str]) -> None:
        self.append(entries.pack_texts(texts), len(texts))

    def over(self) -> None: ...

    def paused(self) -> None: ...

    def failed(self) -> None:
        self.has_failed = True

    def read_again(self, joined_at: int) -> Played:
        """Return the turn as a reader sees it that joins after so many entries."""
        protocol = ReaderProtocol(ResumeRequest(user_id="user-1", init_s=1))
        output = ReaderOutput(UIMessageStream(StreamOptions(usage=True)), protocol)
        played = Played(protocol, output=output)
        backlog = [entries.frame(row, 1) for row in self.rows[:joined_at]]
        closed = [end for end in entries.closed_questions(backlog) if end is not None]
        head = entries.pack(Head(PROMPT_ID, "user-1"))
        played.read([entries.opening(head, Joined(joined_at), closed)])
        for row in self.rows:
            played.read([entries.frame(row, 1)])
        return played


class ReadingAgain(AskingAgent):
    def test_what_is_read_again_is_what_was_shown(self, script: Script) -> None:
        """A reader that joins at any moment has the same message and the same end."""
        frames = self.scripted(script)
        for count in {len(frames), Random(script.name).randint(0, len(frames))}:  # noqa: S311
            with about(f"{count} of {len(frames)} frames had come"):
                record = TurnRecord()
                tee = Tee(UIMessageStream(StreamOptions(usage=True)), record)
                first = self.play(output=tee).receive(frames[:count]).leave().close()
                tee.end(first.turn.outcome)
                if not record.has_failed:  # else the turn did not begin: there is nothing to read
                    _check_each_reader(record, first)

    def test_an_answered_turn_is_read_again(self) -> None:
        """A reader that joins before or after an answer has the same message and the same end."""
        for name, exchange, answer in self._answered_turns():
            with about(f"The turn is `{name}`"):
                record = TurnRecord()
                tee = Tee(UIMessageStream(StreamOptions(usage=True)), record)
                first = self._asked(exchange, output=tee)
                if answer is not None:
                    self._answer(first, exchange, answer)
                self._goes_on(first, exchange, name)
                tee.end(first.turn.outcome)
                _check_each_reader(record, first)


def _check_each_reader(record: TurnRecord, first: Played) -> None:
    for joined_at in range(len(record.rows) + 1):
        again = record.read_again(joined_at).close()
        need(_seen(again.client) == _seen(first.client), "another message is read")


def _seen(client: Client) -> tuple[object, ...]:
    return client.message_id, client.parts, client.verdict, client.metadata
