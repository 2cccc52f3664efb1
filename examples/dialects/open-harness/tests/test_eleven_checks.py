"""What a dialect of this wire must get right, over real sockets; README.md has the table."""

from typing import Final

from harness import Harness, Run, pause
from served import Gateway

ASKED: Final = "data-question"


def test_deltas_and_the_whole_text_give_it_once(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.emit("agent:thinking:delta", content="Hm.")
        run.emit("agent:thinking", content="Hm. Well.")
        run.tell("The ", "albatross", " sleeps.")
        run.tell("On ", "the wing.")
        run.complete()

    with harness.playing(script):
        turn = gateway.turn("Where does it sleep?")

    assert turn.is_whole
    assert turn.text == "The albatross sleeps.On the wing."
    assert "".join(chunk["delta"] for chunk in turn.of("reasoning-delta")) == "Hm. Well."
    assert len(turn.of("text-start")) == len(turn.of("text-end")) == 2
    assert [each["type"] for each in harness.commands] == ["send"]
    assert harness.commands[0]["message"] == "Where does it sleep?"


def test_the_whole_text_alone_gives_it_once(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.emit("agent:text", content="The whole of it. ")
        run.emit("agent:complete", "writer", result="The whole of it.")
        run.emit("agent:complete", "editor", result="The result.")
        run.complete()

    with harness.playing(script):
        turn = gateway.turn()

    assert turn.is_whole
    assert turn.text == "The whole of it. The result."


def test_the_same_tool_three_times_gives_three_cards(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        for number in range(3):
            run.call("search", toolInput={"page": number}, toolOutput=[number])
        run.tell("Done.")
        run.complete()

    with harness.playing(script):
        turn = gateway.turn()

    assert turn.is_whole
    shown = [(card["toolName"], card["input"], card["output"]) for card in turn.cards.values()]
    assert shown == [("search", {"page": number}, [number]) for number in range(3)]


def test_a_tool_without_an_input(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.call("clock", toolOutput="noon")
        run.call("bell", toolInput=None)
        run.complete()

    with harness.playing(script):
        turn = gateway.turn()

    assert turn.is_whole
    shown = [(card["toolName"], card["input"], card["output"]) for card in turn.cards.values()]
    assert shown == [("clock", {}, "noon"), ("bell", {}, None)]


def test_an_error_of_a_tool_leaves_the_turn_alive(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.call("search", toolInput={}, toolOutput=None, error="no line")
        run.tell("I go on without it.")
        run.complete()

    with harness.playing(script):
        turn = gateway.turn()

    assert turn.is_whole
    assert turn.text == "I go on without it."
    assert [card["errorText"] for card in turn.cards.values()] == ["no line"]


def test_two_nodes_give_both_texts_and_one_end(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        for node in ("writer", "editor"):
            run.emit("node:start", node)
            run.tell("I am ", f"the {node}. ", node=node)
            usage = {"inputTokens": 3, "outputTokens": 2}
            run.emit("agent:complete", node, result="", usage=usage)
            run.emit("node:complete", node, output={"by": node})
        run.complete()

    with harness.playing(script):
        turn = gateway.turn()

    assert turn.is_whole
    assert turn.text == "I am the writer. I am the editor. "
    assert turn.chunks[-1]["messageMetadata"]["usage"] == {"inputTokens": 6, "outputTokens": 4}
    assert [each["data"] for each in turn.of("data-flow-status")] == [
        {"status": "running", "flowName": "report"},
        {"status": "complete", "flowName": "report"},
    ]
    assert not turn.of("data-node-output"), "the operator did not ask for the results of runs"


def test_an_error_of_an_agent_and_its_end(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.emit("agent:error", errorType="rate_limit", message="too fast")
        run.tell("Now it works.")
        run.emit("agent:complete", result="Now it works.")
        run.emit("flow:complete")

    with harness.playing(script):
        turn = gateway.turn()

    assert turn.is_whole
    assert turn.text == "Now it works."
    (failed,) = [
        each for each in turn.of("data-agent-status") if each["data"]["status"] == "failed"
    ]
    assert failed["data"]["detail"] == "writer: too fast"


def test_events_of_another_run_are_not_ours(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        other = Run(harness, "their-run", "")
        other.begin()
        run.begin()
        other.tell("A secret of others. ")
        run.tell("Ours. ")
        other.call("search", toolOutput="theirs")
        harness.emit("flow:complete", flowName="report", status="complete")
        other.complete()
        run.tell("Still ours.")
        run.complete()

    with harness.playing(script):
        turn = gateway.turn()

    assert turn.is_whole
    assert turn.text == "Ours. Still ours."
    assert not turn.cards


def test_no_abort_while_another_run_is_open(harness: Harness, alone: Gateway) -> None:
    others = [Run(harness, "their-run", "")]

    def script(run: Run) -> None:
        others[0].tell("Theirs.")
        run.begin()
        run.emit("agent:text:delta", content="Ours.")

    with harness.playing(script):
        with alone.chatting() as stream:
            stream.read("text-delta")
        pause()
        assert [each["type"] for each in harness.commands] == ["send"]
        others[0].complete()
        aborted = harness.command("abort")

    assert aborted["resumable"] is False


def test_an_unknown_envelope_is_nothing(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        harness.send({"type": "signal", "event": {"type": "flow:complete", "runId": run.run_id}})
        harness.send({"type": "command", "command": {"type": "abort"}})
        harness.emit("phase:entered", runId=run.run_id)
        run.tell("It goes on.")
        run.complete()

    with harness.playing(script):
        turn = gateway.turn()

    assert turn.is_whole
    assert turn.text == "It goes on."


def test_a_pause_is_a_question_and_its_answer_the_reply(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.tell("I stop here. ")
        run.emit("agent:paused", sessionId="s")
        run.emit("flow:paused", flowName="report")
        content = run.reply()["content"]
        run.emit("flow:resumed", flowName="report")
        run.tell(f"You say: {content}")
        run.complete()

    with harness.playing(script):
        with gateway.chatting() as stream:
            (asked,) = stream.read(ASKED).of(ASKED)
            answered = gateway.answer(asked["data"]["questionId"], "go on")
            stream.read()
        reply = harness.command("reply")

    assert answered.is_success
    assert asked["data"]["text"] == "The agent waits for a message"
    assert reply["promptId"] == asked["data"]["questionId"]
    assert stream.is_whole
    assert stream.text == "I stop here. You say: go on"
    assert [each["data"]["state"] for each in stream.of(ASKED)] == ["open", "resolved"]
