"""What else a client may say, and the prompts that never become a turn (§3)."""

import base64

import pytest

from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.line import client, outline, text
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

PNG = b"\x89PNG\r\n\x1a\n"


def file(mime: str, content: bytes = b"hi", **more: str) -> dict[str, str]:
    url = f"data:{mime};base64,{base64.b64encode(content).decode()}"
    return {"type": "file", "mime": mime, "url": url, **more}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_complaints_go_to_the_sender_alone(revision: Revision) -> None:
    async with (
        SessionAgent(Habits(revision=revision)) as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        await bob.socket.send("no json")
        await bob.prompt("")
        await bob.say(type="answer", questionId="q1")
        await bob.say(type="command", command="dance")
        for ignored in ({"type": "stream"}, {"type": "prompt", "content": 7}, {}):
            await bob.say(**ignored)
        await bob.settle()
        await ann.settle()

    assert [f["message"] for f in bob.received if f["type"] == "error"] == [
        "Invalid JSON",
        "Missing content or attachments",
        "Missing questionId or answer",
        "Unknown command: dance",
    ]
    assert "error" not in outline(ann.received)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_smaller_things_a_client_may_ask_for(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("say 1 deltas")
        echo = await ours.hear("message")
        turn_id = await ours.bind()
        await ours.status(runnerBusy=False)
        await ours.say(type="revert", messageId=echo["data"]["id"])
        removed = await ours.hear("messages.removed")
        await ours.say(type="revert", messageId=echo["data"]["id"])
        await ours.say(type="diff")
        diff = await ours.hear("diff")
        await ours.say(type="review")
        await ours.hear("review-result")
        await ours.say(type="command", command="compact")
        result = await ours.hear("command-result")

    assert removed["messageIds"] == [echo["data"]["id"], turn_id]
    assert diff["data"]["files"]
    assert result["command"] == "compact"
    assert agent.session("s1").entries == []


@pytest.mark.parametrize("word", ["status", "sessions", "clear", "refresh", "help"])
async def test_on_v_a_slash_word_gets_a_system_entry_and_no_turn(word: str) -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        await ours.prompt(f"/{word}")
        reply = await ours.hear("message")
        await ours.settle()

    assert reply["data"]["role"] == "system"
    assert reply["data"]["parts"] is None
    assert not {"message user", "message assistant", "queue.state"} & set(outline(ours.received))


async def test_on_v_slash_stop_stops_and_wipes_the_queue() -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        await ours.prompt("hang")
        await ours.prompt("waits")
        await ours.status(promptQueued=True)
        await ours.prompt("/stop")
        await ours.hear("message", data={"role": "system"})
        await ours.status(runnerBusy=False)

    assert len(agent.tally.stopped) == 1
    assert [row.content for row in agent.tally.deleted] == ["waits"]


@pytest.mark.parametrize(
    ("revision", "content"), [("R", "/help"), ("A", "/help"), ("V", "/helpme")]
)
async def test_other_slash_words_are_prompts(revision: Revision, content: str) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt(content)
        await ours.finish(await ours.bind())


@pytest.mark.parametrize(
    ("revision", "files", "taken", "refused"),
    [
        ("R", [file("image/png", PNG, filename="a.png")], ["image/png"], []),
        ("R", [file("text/plain"), file("audio/wav")], ["audio/wav"], []),
        ("A", [file("application/pdf", b"%PDF-1")], [], []),
        ("V", [file("image/gif", PNG)], ["image/png"], []),
        ("V", [file("application/pdf", b"%PDF-1"), file("text/plain")], None, []),
        ("V", [file("audio/wav"), file("application/json", b"{}")], None, []),
        ("V", [file("text/plain", b"\xff\xfe\x00")], [], ["text/plain"]),
        ("V", [file("application/zip")], [], ["application/zip"]),
        ("V", [{"type": "file", "mime": "a/b", "url": "data:a/b;base64,???"}], [], ["a/b"]),
        ("V", [{"type": "file", "mime": "image/png", "url": "https://a.example/b"}], [], []),
        ("R", [file("image/png", PNG)] * 9, ["image/png"] * 8, []),
    ],
)
async def test_attachments_are_taken_or_dropped(
    revision: Revision,
    files: list[dict[str, str]],
    taken: list[str] | None,
    refused: list[str],
) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hello", attachments=files)
        echo = (await ours.hear("message"))["data"]
        turn_id = await ours.bind()
        await ours.finish(turn_id)

    mimes = [part["mimeType"] for part in echo.get("parts", [])]
    assert mimes == ([file["mime"] for file in files] if taken is None else taken)
    errors = [frame["message"] for frame in ours.received if frame["type"] == "error"]
    assert errors == [f"Unsupported file type: {mime}" for mime in refused]
    assert ("of your files" in text(ours.received, turn_id)) is bool(mimes)


async def test_on_r_files_that_are_all_dropped_are_no_prompt() -> None:
    async with SessionAgent(Habits(revision="R")) as agent, client(agent.url) as ours:
        await ours.prompt("", attachments=[file("text/plain")])
        error = await ours.hear("error")
        await ours.prompt("", attachments=[file("image/png", PNG)])
        await ours.finish(await ours.bind())

    assert error == {"type": "error", "message": "Missing content or attachments"}


async def test_a_queued_file_is_named_in_the_queue() -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        await ours.prompt("hold")
        await ours.prompt("look", attachments=[file("image/png", PNG, filename="a.png")])
        queued = await ours.hear("queue.state")

    assert queued["data"]["pending"]["attachments"] == [
        {"type": "file", "mime": "image/png", "filename": "a.png"}
    ]


@pytest.mark.parametrize("revision", ["A", "V"])
async def test_a_thread_overrides_the_channel_and_is_announced(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        for _ in range(2):
            await ours.prompt("say 1 deltas", threadId="T")
            await ours.finish(await ours.bind())
            await ours.status(runnerBusy=False)

    created = [frame for frame in ours.received if frame["type"] == "thread.created"]
    assert created == [
        {"type": "thread.created", "threadId": "T"},
        {"type": "thread.created", "threadId": "T", "opencodeSessionId": "conversation-T"},
    ]
    where = {"channelType": "thread", "channelId": "T"}
    entries = [f["data"] for f in ours.received if f["type"] == "message"]
    assert all(where.items() <= entry.items() for entry in entries)
    assert all(entry["threadId"] == "T" for entry in entries)
    chunk = next(frame for frame in ours.received if frame["type"] == "chunk")
    assert where.items() <= chunk.items()
    assert "threadId" not in chunk


async def test_r_knows_no_threads() -> None:
    async with SessionAgent(Habits(revision="R")) as agent, client(agent.url) as ours:
        await ours.prompt("say 1 deltas", threadId="T")
        chunk = await ours.hear("chunk")

    assert chunk["channelId"] == "default"
    assert "thread.created" not in outline(ours.received)


@pytest.mark.parametrize(("revision", "known"), [("R", {}), ("V", {"authorId": None})])
async def test_a_prompt_may_have_no_author(revision: Revision, known: dict[str, None]) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hold")
        await ours.hear("chunk")
        agent.session("s1").ask("by nobody")
        await ours.status(promptQueued=True)
        agent.session("s1").release()
        await ours.status(runnerBusy=False)

    echoes = [f["data"] for f in ours.received if f["type"] == "message"]
    echo = next(e for e in echoes if e["content"] == "by nobody")
    assert {k: v for k, v in echo.items() if k == "authorId"} == known


async def test_on_v_an_author_is_half_known_right_after_a_socket_opened() -> None:
    async with SessionAgent(Habits(hydration_s=30)) as agent, client(agent.url) as ours:
        await ours.prompt("hello")
        echo = (await ours.hear("message"))["data"]

    assert (echo["authorId"], echo["authorEmail"]) == ("ann", "")
    assert "authorName" not in echo


@pytest.mark.parametrize("revision", REVISIONS)
async def test_ids_of_a_prompt_are_never_read(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hello", messageId="mine", requestId="mine", promptId="mine")
        await ours.finish(await ours.bind())

    assert "mine" not in str(ours.received)


async def test_ids_and_times_may_be_chosen_by_a_test() -> None:
    numbers = iter(range(100))
    async with (
        SessionAgent(new_id=lambda: f"id-{next(numbers)}") as agent,
        client(agent.url) as ours,
    ):
        await ours.prompt("say 1 deltas")
        turn_id = await ours.bind()

    assert turn_id == "id-1"


async def test_a_test_may_tell_anything() -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        await ours.hear("init")
        agent.session("s1").tell({"type": "toast", "title": "Ding"})
        assert (await ours.hear("toast"))["title"] == "Ding"
