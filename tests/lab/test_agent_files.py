"""Files that come with a prompt, and files and sources that the reference agent hands out."""

import struct
import zlib
from base64 import b64decode

import pytest

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.brain import ATTACHMENTS
from turnwire_lab.agents.v2.files import contents
from turnwire_lab.agents.v2.history import FILE_CHARACTERS
from turnwire_lab.agents.v2.line import kinds, line, text
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

PICTURE = {
    "type": "file",
    "mime": "image/png",
    "url": "data:image/png;base64,AAECAw==",
    "filename": "a.png",
}
NOTE = {"type": "file", "mime": "text/plain", "url": "data:text/plain,one%20line%0Atwo"}


async def entries(agent: ReferenceAgent) -> list[Json]:
    async with line(agent.url) as later:
        init = await later.hear("init")
    told: list[Json] = init["session"]["messages"]
    return told


async def test_files_are_looked_at_and_kept_in_the_history() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("describe these files", attachments=[PICTURE, NOTE])
        asked = (await entries(agent))[0]

        told = '2 files: a.png image/png 4 bytes, text/plain 12 bytes ("one line")'
        assert text(frames) == f"You sent {told}.\n"
        assert asked["parts"] == [
            {"type": "text", "text": "describe these files", "streaming": False},
            PICTURE,
            NOTE,
        ]


async def test_a_file_alone_has_no_empty_text_beside_it() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("", attachments=[PICTURE])

        assert "With it came 1 file: a.png image/png 4 bytes." in text(frames)
        assert (await entries(agent))[0]["parts"] == [PICTURE]


async def test_without_files_there_is_nothing_to_describe() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("look at the picture")

        assert text(frames) == "There is no file with your prompt.\n"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://files.example/a.png", "image/png at files.example"),
        ("data:image/png;base64,???", "image/png at nowhere"),
        ("data:image/png", "image/png at nowhere"),
        ("data:image/png,1", "image/png 1 byte"),
    ],
)
async def test_a_file_that_is_not_here_is_not_fetched(url: str, words: str) -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("describe this file", attachments=[PICTURE | {"url": url}])

        assert f"1 file: a.png {words}.\n" in text(frames)


async def test_the_history_forgets_the_oldest_contents_first() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        large = NOTE | {"url": "data:text/plain," + "x" * (FILE_CHARACTERS // 2)}
        await ours.turn("say nothing", "p1", attachments=[PICTURE, large])
        await ours.turn("say nothing", "p2", attachments=[large])
        told = [part for entry in await entries(agent) for part in entry["parts"]]
        files = [part for part in told if part["type"] == "file"]

        forgotten = {"type": "file", "mime": "text/plain"}
        assert [part.get("url", "")[:15] for part in files] == ["", "", "data:text/plain"]
        assert files[0] == {k: v for k, v in PICTURE.items() if k != "url"}
        assert files[1] == forgotten


async def test_too_many_files_are_refused() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("hello", attachments=[NOTE] * (ATTACHMENTS + 1))
        refused = await ours.hear("error")

        assert refused["error"] == "A prompt has at most 64 attachments."
        assert not agent.journal.runs


async def test_a_text_file_is_handed_out_between_two_texts() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("please send me a file")
        answered = (await entries(agent))[1]

        sent = next(f for f in frames if f["type"] == "message.part.file")
        assert (sent["turnId"], sent["mime"]) == (frames[0]["turnId"], "text/plain")
        assert sent["filename"] == "note.txt"
        assert contents(sent["url"]) == b"Nothing in here was thought of by a model.\n"
        part = {k: v for k, v in sent.items() if k not in {"type", "turnId"}}
        assert [p["type"] for p in answered["parts"]] == ["text", "file", "text", "finish"]
        assert answered["parts"][0]["streaming"] is False
        assert answered["parts"][1] == {"type": "file", **part}


async def test_a_picture_is_one() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("send me a picture")

        sent = next(f for f in frames if f["type"] == "message.part.file")
        png = b64decode(sent["url"].removeprefix("data:image/png;base64,"))
        assert (sent["mime"], sent["filename"]) == ("image/png", "picture.png")
        width, height = struct.unpack(">II", png[16:24])
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        start = png.index(b"IDAT") + 4
        (length,) = struct.unpack(">I", png[start - 8 : start - 4])
        assert len(zlib.decompress(png[start : start + length])) == height * (1 + 3 * width)


@pytest.mark.parametrize(("prompt", "count"), [("cite a source", 1), ("cite two sources", 2)])
async def test_sources_are_told_one_by_one_and_kept(prompt: str, count: int) -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn(prompt)
        answered = (await entries(agent))[1]

        told = [f for f in frames if f["type"] == "message.part.source"]
        assert len(told) == count
        assert told[0] == {
            "type": "message.part.source",
            "turnId": frames[0]["turnId"],
            "sourceId": "source-1",
            "url": "https://www.rfc-editor.org/rfc/rfc6455",
            "title": "RFC 6455: The WebSocket Protocol",
        }
        kept = [p for p in answered["parts"] if p["type"] == "source"]
        assert [p["sourceId"] for p in kept] == [f["sourceId"] for f in told]
        assert f"looked at {count} page" in text(frames)


async def test_a_long_story_has_hundreds_of_words() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        frames = await ours.turn("tell me a long story")

        deltas = [f for f in frames if f["type"] == "message.part.text-delta"]
        assert len(deltas) > 400  # eight seconds at the pace of the demo
        assert kinds(frames)[-2:] == ["message.finalize", "complete"]
