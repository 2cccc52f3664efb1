"""What a dialect of this wire must get right, over real sockets; README.md has the table."""

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from bridged import bridged
from lines import CANARY, Json, Lines, call, encode
from pi_gateway import Gateway, Stream
from pi_server import PiServer, Process, Run, Taking, pause
from prompts import failing, in_a_text, in_a_tool, replay, simple, with_a_queue

PLACE: Final = "pi_dialect:Pi"
SHARED_PLACE: Final = "pi_dialect:PiShared"
ASKED: Final = "data-question"
HANDLED: Final = "An extension of the agent took the message"


@pytest.fixture(scope="session")
def pi() -> Iterator[PiServer]:
    """One that has a process for each connection."""
    server = PiServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def shared() -> Iterator[PiServer]:
    """One that has a process for all connections."""
    server = PiServer(is_shared=True)
    yield server
    server.close()


@pytest.fixture(scope="session")
def gateway(pi: PiServer) -> Iterator[Gateway]:
    with Gateway(pi.port, PLACE) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def unlogged(pi: PiServer) -> Iterator[Gateway]:
    """One without a turn log, in which a chat may have two turns at once."""
    with Gateway(pi.port, PLACE, turn_log="off") as gateway:
        yield gateway


@pytest.fixture(scope="session")
def first(shared: PiServer) -> Iterator[Gateway]:
    """One of two before a process that they share."""
    with Gateway(shared.port, SHARED_PLACE) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def second(shared: PiServer) -> Iterator[Gateway]:
    """The other of the two."""
    with Gateway(shared.port, SHARED_PLACE) as gateway:
        yield gateway


def shape(turn: Stream) -> list[Json]:
    """The chunks of a turn without what differs each time."""
    varying = {"id", "messageId", "messageMetadata"}
    return [
        {name: value for name, value in chunk.items() if name not in varying}
        for chunk in turn.chunks
    ]


def test_streams_of_two_versions_give_the_same_message(pi: PiServer, gateway: Gateway) -> None:
    turns = []
    for version in ("0.87.1", "0.74.2"):
        with pi.playing(replay(f"{version}-text")):
            turns.append(gateway.turn("hello"))

    assert all(turn.is_whole for turn in turns)
    assert turns[0].text == "Hello wörld 👋, how are you?"
    assert shape(turns[0]) == shape(turns[1])


def test_blocks_may_end_late_and_in_any_order(pi: PiServer, gateway: Gateway) -> None:
    bash = call("c1", "bash", {"command": "ls"})
    ends = [
        ("thinking_end", 0, {"content": "Hm. So."}),
        ("text_end", 1, {"content": "One two."}),
        ("toolcall_end", 2, {"toolCall": bash}),
        ("text_end", 3, {"content": "Three."}),
    ]

    def ended_by(order: Any) -> Callable[[Run], None]:
        def script(run: Run) -> None:
            run.begin(run.prompt)
            run.start()
            run.update("thinking_delta", 0, delta="Hm. ")
            run.update("thinking_delta", 0, delta="So.")
            run.update("text_delta", 1, delta="One ")
            run.update("text_delta", 1, delta="two.")
            run.update("toolcall_start", 2, id="c1", toolName="bash")
            run.update("toolcall_delta", 2, delta='{"command": "ls"}')
            run.update("text_delta", 3, delta="Three.")
            for kind, index, fields in order:
                run.update(kind, index, **fields)
            run.end(
                {"type": "thinking", "thinking": "Hm. So."},
                {"type": "text", "text": "One two."},
                bash,
                {"type": "text", "text": "Three."},
                reason="toolUse",
            )
            run.outcome("c1", "bash", "notes.txt")

        return script

    for order in itertools.permutations(ends):
        with pi.playing(ended_by(order)):
            turn = gateway.turn()

        assert turn.is_whole, turn.types
        assert turn.text == "One two.Three."
        assert "".join(each["delta"] for each in turn.of("reasoning-delta")) == "Hm. So."
        assert turn.cards["c1"]["input"] == {"command": "ls"}
        assert turn.cards["c1"]["output"] == "notes.txt"
        assert len(turn.of("text-start")) == 2


def test_a_first_piece_that_comes_twice_is_shown_once(pi: PiServer, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin(run.prompt)
        run.start([{"type": "thinking", "thinking": "First I co"}])
        run.update("thinking_start")
        run.update("thinking_delta", delta="First I co")
        run.update("thinking_delta", delta="nsider.")
        run.update("text_delta", 1, delta="Then.")
        run.end(
            {"type": "thinking", "thinking": "First I consider."}, {"type": "text", "text": "Then."}
        )

    with pi.playing(script):
        turn = gateway.turn()

    assert "".join(each["delta"] for each in turn.of("reasoning-delta")) == "First I consider."
    assert turn.text == "Then."


def test_the_system_prompt_is_in_no_output(pi: PiServer, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        simple(run)
        run.event("message_start", message={"role": "custom", "content": CANARY, "display": True})
        run.event("message_end", message={"role": "system", "content": CANARY})
        run.event("turn_end", message={"role": "system", "content": CANARY}, toolResults=[])

    with pi.playing(script):
        turn = gateway.turn()
        gateway.logged("stream ended")

    assert turn.is_whole
    assert CANARY not in json.dumps(turn.chunks)
    assert CANARY not in json.dumps(gateway.log)


def test_a_retry_that_succeeds_is_no_error(pi: PiServer, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin(run.prompt)
        failing(run, will_retry=True, attempt=1)
        run.message("This will be good.")
        run.event("auto_retry_end", success=True, attempt=1)

    with pi.playing(script):
        turn = gateway.turn()

    assert turn.is_whole
    assert not turn.of("error")
    assert turn.text == "This will beThis will be good."
    assert len(turn.of("text-start")) == 2
    (notice,) = turn.of("data-notice")
    assert notice["data"] == {"notice": "retried", "text": "The answer broke off, and begins again"}
    statuses = [each["data"] for each in turn.of("data-agent-status")]
    assert {"status": "retrying", "detail": "attempt 1 of 3"} in statuses


def test_retries_that_all_fail_are_one_error(pi: PiServer, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin(run.prompt)
        failing(run, will_retry=True, attempt=1)
        failing(run, will_retry=False, attempt=2)
        run.event("auto_retry_end", success=False, attempt=2, finalError="terminated")

    with pi.playing(script):
        turn = gateway.turn()

    assert [each["errorText"] for each in turn.of("error")] == ["terminated"]
    assert turn.types[-1] == "finish"


@pytest.mark.parametrize("script", [in_a_text, in_a_tool, with_a_queue])
def test_an_abort_is_an_abort_wherever_it_comes(
    pi: PiServer, gateway: Gateway, script: Callable[[Run], None]
) -> None:
    with pi.playing(script):
        with gateway.chatting() as stream:
            stream.read("text-delta")
            if script is in_a_tool:
                stream.read("tool-input-available")
            assert gateway.stop().is_success
            stream.read()
        order = [each["type"] for each in pi.commands if each["type"] in {"clear_queue", "abort"}]

    assert stream.types[-2:] == ["abort", "finish"]
    assert not stream.of("error")
    assert order == ["clear_queue", "abort"]
    assert not pi.processes[0].queue


def test_of_two_prompts_at_once_the_second_waits(
    pi: PiServer, unlogged: Gateway, shared: PiServer, first: Gateway
) -> None:
    for server, gateway, threads in ((pi, unlogged, ("t1", "t1")), (shared, first, ("t1", "t2"))):
        began: list[str] = []

        def script(run: Run, began: list[str] = began, server: PiServer = server) -> None:
            began.append(run.prompt)
            run.begin(run.prompt)
            if run.prompt == "one":
                run.message("1", reason=None)
                server.wait(lambda: len(server.processes) == 2)
                pause()
                assert began == ["one"]
            run.message(f"Answer to {run.prompt}")

        with server.playing(script), ExitStack() as stack:
            one = stack.enter_context(gateway.chatting("one", thread=threads[0]))
            one.read("text-delta")
            two = stack.enter_context(gateway.chatting("two", thread=threads[1]))
            one.read()
            two.read()

        assert one.is_whole
        assert two.is_whole
        assert two.text == "Answer to two"
        assert {"status": "queued"} in [each["data"] for each in two.of("data-agent-status")]
        if server is pi:
            paths = [each["sessionPath"] for each in server.sent("switch_session")]
            assert paths[0] == paths[1], "both are of one chat"


def test_of_two_gateways_each_is_told_its_own_turn(
    shared: PiServer, first: Gateway, second: Gateway
) -> None:
    def script(run: Run) -> None:
        if run.prompt == "mine":
            run.begin(run.prompt)
            run.message("A secret of mine.", reason=None)
            shared.wait(lambda: len(shared.sent("prompt")) == 2)
            pause()
            run.end({"type": "text", "text": "A secret of mine."})
        else:
            run.event("turn_start")
            run.user(run.prompt)
            run.message("A secret of yours.")

    with shared.playing(script), ExitStack() as stack:
        mine = stack.enter_context(first.chatting("mine"))
        mine.read("text-delta")
        yours = stack.enter_context(second.chatting("yours"))
        mine.read()
        yours.read()

    assert (mine.is_whole, yours.is_whole) == (True, True)
    assert (mine.text, yours.text) == ("A secret of mine.", "A secret of yours.")


def test_a_prompt_that_lost_the_race_is_refused_and_told_nothing(
    shared: PiServer, first: Gateway, second: Gateway
) -> None:
    """Both are accepted while pi is idle; one of them never runs, and pi does not say so."""
    won: list[Json] = []

    def taking(process: Process, command: Json) -> bool:
        if command["type"] != "prompt":
            return False
        won.append(command)
        if len(won) == 2:
            for each in won:
                process.respond(each)
            lines = Lines()
            lines.event("agent_start")
            lines.event("agent_settled")
            lines.begin("mine")
            lines.message("A secret of mine.")
            lines.settle()
            for line in lines.written:
                process.send(line)
        return True

    with shared.playing(simple, taking), ExitStack() as stack:
        mine = stack.enter_context(first.chatting("mine"))
        shared.command("prompt", message="mine")
        yours = stack.enter_context(second.chatting("yours"))
        mine.read()
        yours.read()

    assert mine.is_whole
    assert mine.text == "A secret of mine."
    assert not yours.text
    (error,) = yours.of("error")
    assert error["errorText"] == "The agent accepted the prompt, and did not run it"


def test_parallel_tools_that_end_in_reverse(pi: PiServer, gateway: Gateway) -> None:
    with pi.playing(replay("0.87.1-both")):
        turn = gateway.turn("run both")

    outputs = turn.of("tool-output-available")
    assert [(each["toolCallId"], each["output"]) for each in outputs] == [
        ("call_c2", "b\n"),
        ("call_c1", "a\n"),
    ]
    assert turn.is_whole
    assert turn.text == "Two. Both ran."


@pytest.mark.parametrize(
    ("answer", "sent"),
    [
        (True, {"confirmed": True}),
        (False, {"confirmed": False}),
        ({"approved": True}, {"confirmed": True}),
        ({"approved": False, "reason": "not now"}, {"confirmed": False}),
    ],
    ids=["yes", "no", "approved", "denied"],
)
def test_a_confirm_is_answered(pi: PiServer, gateway: Gateway, answer: Any, sent: Json) -> None:
    def script(run: Run) -> None:
        run.begin(run.prompt)
        run.ui("confirm", "q1", title="Run it?", message="ls")
        answered = run.answered("q1")
        run.message(f"You say {answered.get('confirmed')}.")

    with pi.playing(script):
        with gateway.chatting() as stream:
            (asked,) = stream.read(ASKED).of(ASKED)
            assert gateway.answer(asked["data"]["questionId"], "perhaps").is_client_error
            assert gateway.answer(asked["data"]["questionId"], answer).is_success
            stream.read()
        answered = pi.command("extension_ui_response")

    assert asked["data"]["text"] == "Run it?\n\nls"
    assert asked["data"]["kind"] == "approval"
    assert answered == {"type": "extension_ui_response", "id": "q1", **sent}
    assert stream.is_whole
    assert [each["data"]["state"] for each in stream.of(ASKED)] == ["open", "resolved"]


def test_a_confirm_of_a_turn_that_is_stopped_is_cancelled(pi: PiServer, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin(run.prompt)
        run.ui("confirm", "q1", title="Run it?")
        assert run.answered("q1")["cancelled"] is True
        run.aborted()

    with pi.playing(script), gateway.chatting() as stream:
        stream.read(ASKED)
        assert gateway.stop().is_success
        stream.read()

    assert stream.types[-2:] == ["abort", "finish"]
    answer = {"type": "extension_ui_response", "id": "q1", "cancelled": True}
    assert pi.sent("extension_ui_response") == [answer]


def test_a_confirm_that_the_agent_decides_itself_is_closed(pi: PiServer, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin(run.prompt)
        run.ui("confirm", "q1", title="Run it?", timeout=50)
        pause(1.5)  # also on a busy machine the gateway notices the end of the time first
        run.message("I did not.")

    with pi.playing(script):
        turn = gateway.turn()

    assert turn.is_whole
    assert [each["data"]["state"] for each in turn.of(ASKED)] == ["open", "expired"]
    assert [each["type"] for each in turn.of(ASKED, "text-start")] == [ASKED, ASKED, "text-start"]
    assert not pi.sent("extension_ui_response")


def test_what_begins_no_run_does_not_wait_for_ever(pi: PiServer, gateway: Gateway) -> None:
    def responding(**fields: Any) -> Taking:
        def taking(process: Process, command: Json) -> bool:
            is_prompt: bool = command["type"] == "prompt"
            if is_prompt:
                process.respond(command, **fields)
            return is_prompt

        return taking

    unknown = responding(success=False, error="Unknown command: prompt")
    handled, disposed = responding(), responding(data={"disposition": "handled"})

    with pi.playing(simple, unknown):
        refused = gateway.turn()
    turns = []
    for taking in (handled, disposed):
        with pi.playing(simple, taking):
            turns.append(gateway.turn("/greet"))

    assert [each["errorText"] for each in refused.of("error")] == ["Unknown command: prompt"]
    for turn in turns:
        assert turn.is_whole
        status = {"status": "handled", "detail": HANDLED}
        assert status in [each["data"] for each in turn.of("data-agent-status")]


def test_long_lines_and_odd_ones_pass_the_bridge(tmp_path: Path) -> None:
    long, odd = "x" * 20_000_000, "one\u2028two\u2029three\u0085four"
    lines = Lines()
    lines.begin("Read the notes.")
    lines.message(calls=[("c1", "read", {"path": "notes"})])
    lines.outcome("c1", "read", long)
    lines.message(odd)
    whole = list(lines.written)
    lines.settle()

    with bridged(tmp_path, lines.written) as gateway:
        turn = gateway.turn()
    with bridged(tmp_path, [*whole, encode({"type": "agent_end", "willRetry": False})[:-9]]) as cut:
        half = cut.turn()

    assert turn.is_whole
    assert turn.cards["c1"]["output"] == long
    assert turn.text == odd
    assert [each["errorText"] for each in half.of("error")] == ["Stream interrupted"]
    assert half.text == odd


def test_a_process_that_dies_in_a_tool_leaves_no_card_without_an_outcome(tmp_path: Path) -> None:
    lines = Lines()
    lines.begin("Read the notes.")
    lines.message("I look. ", calls=[("c1", "bash", {"command": "a"}), ("c2", "bash", {})])
    lines.run("c1", "bash", {"command": "a"})
    lines.run("c2", "bash", {})
    lines.outcome("c2", "bash", "done")

    with bridged(tmp_path, lines.written) as gateway:
        turn = gateway.turn()

    assert turn.text == "I look. "
    assert turn.cards["c2"]["output"] == "done"
    assert turn.cards["c1"]["type"] == "tool-output-error"
    assert [each["errorText"] for each in turn.of("error")] == ["Stream interrupted"]
    assert turn.types[-1] == "finish"


def test_a_wire_as_its_schema_has_it_is_no_drift(pi: PiServer, gateway: Gateway) -> None:
    for name in ("both", "thinking", "cutoff-retry"):
        with pi.playing(replay(f"0.87.1-{name}")):
            gateway.turn()
        assert gateway.logged("stream ended")["unrecognised"] is None

    assert not [each for each in gateway.log if each.get("logger") == "turnwire.drift"]
