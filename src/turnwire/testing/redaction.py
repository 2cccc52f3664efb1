"""Tests of what recordings and logs hold of the texts of people."""

import json

from turnwire.core.recording.recorder import Recording, header
from turnwire.core.recording.redact import redactor_of
from turnwire.core.recording.replay import replay
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.testing.base import PROMPT_ID, about
from turnwire.testing.client_model import need
from turnwire.testing.damage import GARBAGE
from turnwire.testing.optional.answering import AskingAgent
from turnwire.testing.playing import LIMITS, Played
from turnwire.testing.scripts import SECRETS, Script

_RECORDING_BYTES = 10_000_000


class Redaction(AskingAgent):
    secrets: tuple[str, ...] = ()
    """Words in the frames of the author, beside those of the scripts, that no one may read."""

    def test_a_recording_hides_the_texts(self, script: Script) -> None:
        """A redacted recording holds no word of the prompt, of a text, of an input or output."""
        _, lines = self._recorded(script)
        self._find_no_secret(b"\n".join(lines).decode(), "the recording")

    def test_a_redacted_recording_replays(self, script: Script) -> None:
        """The redacted recording makes the same chunks, but for their texts."""
        played, lines = self._recorded(script)
        again = replay(lines, self.dialect, usage=True)
        kinds, kinds_again = _kinds(played.written), _kinds(again)
        need(kinds == kinds_again, f"it makes {kinds_again}, and the turn made {kinds}")

    def test_a_recording_hides_the_answer(self) -> None:
        """A redacted recording holds no word of a question, of an answer, or of what follows."""
        for name, exchange, answer in self._answered_turns():
            with about(f"The turn is `{name}`"):
                recording = self._recording()
                asked = self._asked(exchange, observers=[recording])
                if answer is not None:
                    self._answer(asked, exchange, answer)
                self._goes_on(asked, exchange, name)
                lines = recording.lines(redactor=redactor_of(self.dialect.schema))
                self._find_no_secret(b"\n".join(lines).decode(), "the recording")

    def test_a_log_has_no_text(self, script: Script) -> None:
        """The counters that the log line shows hold no word of a text, whatever was not read."""
        frames = self.scripted(script)
        played = self.play().receive([self.unknown_frame(), *frames[:-1]])
        played.receive([*GARBAGE, *(_odd(frame) for frame in frames), *frames[-1:]]).leave()
        self._find_no_secret(_log_fields(played.protocol.frame_stats), "a field of the log")

    def _recorded(self, script: Script) -> tuple[Played, list[bytes]]:
        recording = self._recording()
        played = self.play(observers=[recording]).receive(self.scripted(script)).leave()
        return played, list(recording.lines(redactor=redactor_of(self.dialect.schema)))

    def _recording(self) -> Recording:
        request = self.request(PROMPT_ID)
        first_line = header(request, dialect=self.dialect.name, limits=LIMITS)
        return Recording(first_line, _RECORDING_BYTES)

    def _find_no_secret(self, text: str, where: str) -> None:
        text = text.lower()
        found = [word for word in (*SECRETS, *self.secrets) if word.lower() in text]
        need(not found, f"{where} has {found}: {text}")


def _odd(frame: bytes) -> bytes:
    """A frame without its end, so that nobody can read it."""
    return frame.decode()[: -1 - len(frame) // 4].encode()


def _log_fields(stats: FrameStats) -> str:
    shown = (stats.unrecognised, stats.left_out, stats.error_code, stats.protocol_version)
    return json.dumps(shown)


def _kinds(body: bytes) -> list[str]:
    """The types of the chunks of a stream, in order; for deltas in a row, one."""
    kinds: list[str] = []
    for line in body.split(b"\n"):
        if line.startswith(b"data: {"):
            kind: str = json.loads(line[len(b"data: ") :])["type"]
            if kinds[-1:] != [kind] or not kind.endswith("-delta"):
                kinds.append(kind)
    return kinds
