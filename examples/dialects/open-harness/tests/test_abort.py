"""An abort names no run: it is sent only where it hits ours alone."""

from contextlib import ExitStack

from harness import Harness, Run, pause
from served import Gateway


def silent(run: Run) -> None:
    """Begin, and say one word."""
    run.begin()
    run.emit("agent:text:delta", content="Hm.")


def test_a_client_that_hangs_up_aborts_a_run_that_is_alone(
    harness: Harness, alone: Gateway
) -> None:
    with harness.playing(silent):
        with alone.chatting() as stream:
            stream.read("text-delta")
        aborted = harness.command("abort")

    assert aborted == {"type": "abort", "resumable": False, "reason": "the user stopped it"}


def test_a_server_that_others_may_use_is_never_sent_an_abort(
    harness: Harness, gateway: Gateway
) -> None:
    with harness.playing(silent):
        with gateway.chatting() as stream:
            stream.read("text-delta")
        harness.wait(lambda: not harness.sockets)

    assert [each["type"] for each in harness.commands] == ["send"]


def test_two_turns_of_one_session_are_not_aborted_by_each_other(
    harness: Harness, alone: Gateway
) -> None:
    """The first client leaves while the other turn runs, which is silent so far."""
    runs: list[Run] = []

    def script(run: Run) -> None:
        runs.append(run)
        if len(runs) == 1:
            silent(run)

    with harness.playing(script), ExitStack() as second:
        with alone.chatting() as first:
            first.read("text-delta")
            stream = second.enter_context(alone.chatting(thread="t2"))
            harness.wait(lambda: len(harness.commands) == 2)
        pause()
        assert [each["type"] for each in harness.commands] == ["send", "send"]
        runs[1].begin()
        runs[1].complete()
        assert stream.read().is_whole
        harness.command("abort")


def test_the_abort_of_somebody_else_cancels_our_turn(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        silent(run)
        run.emit("agent:aborted", reason="abort")
        run.emit("flow:aborted", flowName="report")

    with harness.playing(script):
        turn = gateway.turn()

    assert turn.of("abort")
    assert turn.types[-1] == "finish"
    assert turn.of("data-flow-status")[-1]["data"] == {"status": "aborted", "flowName": "report"}
