"""Tests of scripts that are played as they stand."""

import base64
import json
from random import Random
from typing import Any, Final

import msgspec

from turnwire.config.dialect_members import lacking, problem_of
from turnwire.core.agent import Feature
from turnwire.core.body.attachments import Attachment
from turnwire.core.body.conversation import Conversation, File, Text, UserMessage
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.outcome import Outcome
from turnwire.testing.base import PROMPT_ID, ScriptedAgent, about
from turnwire.testing.client_model import Part, need
from turnwire.testing.playing import Played
from turnwire.testing.scripts import DONE, ERROR, FAILED, INPUT, OUTPUT, PROMPT, TOOL_NAME, Script

_FILE: Final = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"rhubarb" * 3).decode()
"""The bytes of a file, as the agent is sent them."""


class WholeTurns(ScriptedAgent):
    def test_it_has_words_for_a_text(self) -> None:
        """The author wrote the frames of the script `text`: without them, nothing is tested."""
        need("text" in self.scripts(), "write the frames of the script `text`")

    def test_a_gateway_starts_with_it(self) -> None:
        """The dialect and its protocols have all members of the port."""
        problem = problem_of(self.dialect)
        need(problem is None, f"the dialect: {problem}")
        need(not (missing := lacking(self.protocol())), f"the protocol lacks {missing}")

    def test_the_prompt_is_sent(self, script: Script) -> None:
        """The text of the prompt is in the request, or in a frame to the agent."""
        played = self.play().receive(self.scripted(script))
        sent = b"".join([played.request.body, *played.sent]).decode()
        need(PROMPT in sent, f"the prompt is not sent: {sent!r}")

    def test_a_file_is_sent(self) -> None:
        """A file of the prompt reaches the agent or fails the turn, if there is `FILES_SENT`."""
        if Feature.FILES_SENT not in self.dialect.features:
            return  # the gateway takes no file
        protocol = self.dialect.prompt(self.request_with_file())
        played = Played(protocol).receive(self.scripted(self.scripts()["text"]))
        sent = b"".join([played.request.body, *played.sent]).decode()
        is_refused = played.turn.outcome in (Outcome.FAILED, Outcome.REFUSED)
        need(_FILE in sent or is_refused, f"the file is not sent: {sent!r}")

    def request_with_file(self) -> PromptRequest:
        """Return the request of a prompt with a picture."""
        request, picture = (
            self.request(PROMPT_ID),
            Attachment("image/png", f"data:image/png;base64,{_FILE}"),
        )
        if self.dialect.keeps_history:
            return msgspec.structs.replace(request, attachments=(picture,))
        message = UserMessage(message_id="u1", parts=(Text(PROMPT), File(picture)))
        written = [piece for piece in self.dialect.write_message(message) if piece]
        conversation = Conversation(written=written, left_out={})
        return msgspec.structs.replace(request, conversation=conversation)

    def test_the_script_is_shown(self, script: Script) -> None:
        """The client has the texts once and in order, the reasoning, the calls and the end."""
        played = self.play().receive(self.scripted(script))
        client = played.client
        need(client.streamed_text == script.text, f"{client.streamed_text!r}, not {script.text!r}")
        reasoning = "".join(client.reasonings.values())
        need(reasoning == script.reasoning, f"the reasoning is {reasoning!r}")
        if script.question:
            shown = json.dumps([part for part in client.data if part["type"] == "data-question"])
            need(script.question in shown, f"the question is not in {shown}")
            need(played.turn.outcome is None, "the turn does not wait for an answer")
            return
        played.settle().close()
        self._check_calls(script, client.parts)
        _check_end(script, played)

    def _check_calls(self, script: Script, parts: list[Part]) -> None:
        calls = {part["toolCallId"]: part for part in parts if part["type"].startswith("tool-")}
        need(len(calls) == len(script.calls), f"the calls are {list(calls)}")
        if self.names_calls:
            need(calls.keys() == script.calls.keys(), f"the calls are {list(calls)}")
        ids = script.calls if self.names_calls else calls
        for call_id, state in zip(ids, script.calls.values(), strict=True):
            part = calls[call_id]
            need(part["state"] == state, f"{call_id} is {part['state']}, not {state}")
            name = part["type"].removeprefix("tool-")
            need(name == TOOL_NAME, f"the tool of {call_id} is {name}")
            if self.shows_inputs:
                need(part["input"] == INPUT, f"the input of {call_id} is {part['input']}")
            if self.shows_outputs and state == DONE:
                need(OUTPUT in json.dumps(part["output"]), f"{call_id} has {part['output']}")
            if self.shows_outputs and state == FAILED:
                need(ERROR in part["errorText"], f"{call_id} failed with {part['errorText']!r}")

    def test_reads_make_no_difference(self, script: Script) -> None:
        """The stream has the same bytes, however the frames are divided into reads."""
        frames = self.scripted(script)
        apart = self.play().receive(frames).written
        at_once = self.play()
        at_once.read(frames)
        need(at_once.written == apart, "all frames in one read give another stream")
        long = self.play()
        for frame in frames:
            long.read_long(frame)
        need(long.written == apart, "frames that are handled as long ones give another stream")
        for seed in range(self.seeds):
            with about(f"The seed is {seed}."):
                grouped = read_in_groups(self.play(), frames, Random(seed))  # noqa: S311
                need(grouped.written == apart, "some frames in one read give another stream")

    def test_a_text_is_shown_at_once(self, script: Script) -> None:
        """What a frame says is shown before the next frame comes, so that no cut loses it."""
        frames, played = self.scripted(script), self.play()
        for number, frame in enumerate(frames, start=1):
            played.read([frame])
            with about(f"This is frame {number}: {frame!r}"):
                come = _without_escapes(b"".join(frames[:number]))
                due = script.text if played.turn.outcome is not None else ""
                for index, text in enumerate(script.texts):
                    if _without_escapes(json.dumps(text)[1:-1].encode()) not in come:
                        break
                    due = max(due, "".join(script.texts[: index + 1]), key=len)
                shown = played.client.streamed_text
                need(shown.startswith(due), f"the client has {shown!r}, not {due!r}")


def read_in_groups(played: Played, frames: list[bytes], dice: Random) -> Played:
    """Give a turn these frames in reads of random lengths."""
    rest = list(frames)
    while rest:
        count = dice.randint(1, 4)
        played.read(rest[:count])
        del rest[:count]
    return played


def _check_end(script: Script, played: Played) -> None:
    verdict: dict[str, Any] = played.client.verdict or {}
    outcome = played.turn.outcome
    match script.name:
        case "error":
            need(outcome is Outcome.FAILED, f"the outcome is {outcome}")
            need(ERROR in verdict.get("errorText", ""), f"the error is {verdict}")
        case "canceled":
            need(outcome is Outcome.CANCELED, f"the outcome is {outcome}")
        case _:
            need(outcome is Outcome.COMPLETED, f"the outcome is {outcome}")
            need(not verdict, f"the stream ends with {verdict}")


def _without_escapes(text: bytes) -> bytes:
    """Text of JSON in one spelling, whether letters beyond ASCII are escaped or not."""
    return json.dumps(text.decode()).encode().replace(b"\\", b"")
