"""How a flow ends, and what its nodes tell."""

from harness import Harness, Run
from served import Gateway


def test_a_flow_that_failed_is_the_error_of_the_turn(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.emit("node:error", error={"message": "no money left"})
        run.emit("flow:complete", flowName="report", status="failed")

    with harness.playing(script):
        turn = gateway.turn()

    assert [each["errorText"] for each in turn.of("error")] == ["no money left"]
    assert turn.types[-1] == "finish"


def test_a_server_that_leaves_has_interrupted_the_turn(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.tell("Half of it.")
        harness.cut()

    with harness.playing(script):
        turn = gateway.turn()

    assert turn.text == "Half of it."
    assert [each["errorText"] for each in turn.of("error")] == ["Stream interrupted"]


def test_the_output_of_a_node_is_shown_where_the_operator_wants_it(
    harness: Harness, alone: Gateway
) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.emit("node:complete", "editor", output={"title": "On sleep"})
        run.emit("node:complete", "writer", output="x" * 70_000)
        run.complete()

    with harness.playing(script):
        turn = alone.turn()

    assert turn.is_whole
    assert [each["data"] for each in turn.of("data-node-output")] == [
        {"nodeId": "editor", "output": {"title": "On sleep"}}
    ]


def test_a_node_that_is_no_step_is_a_status(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.emit("node:start", "editor")
        run.emit("node:skipped", "printer", reason="no paper")
        run.complete()

    with harness.playing(script):
        turn = gateway.turn()

    told = [each["data"] for each in turn.of("data-agent-status")]
    assert told == [
        {"status": "running", "detail": "editor"},
        {"status": "skipped", "detail": "printer"},
    ]
    assert turn.types.count("start-step") == 1


def test_a_wire_as_its_schema_has_it_is_no_drift(harness: Harness, gateway: Gateway) -> None:
    def script(run: Run) -> None:
        run.begin()
        run.emit("agent:start", sessionId="s", model="m", prompt="p")
        run.emit("state:patch", patch={"path": "/x"})
        run.emit("edge:fire", edgeId="e", **{"from": "a", "to": "b"})
        run.call("search", toolInput={"q": 1}, toolOutput=2, durationMs=5)
        run.emit("agent:complete", result="Done.", usage=None, totalCostUsd=0.1, numTurns=1)
        run.complete()

    with harness.playing(script):
        assert gateway.turn().text == "Done."
        ended = gateway.logged("stream ended", "state:patch")

    assert ended["left_out"] == {"state:patch": 1, "edge:fire": 1}
    assert ended["unrecognised"] is None
    assert not [each for each in gateway.log if each.get("logger") == "turnwire.drift"]
