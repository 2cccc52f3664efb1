"""Sleep, waking up, the runner lost and found, and death (§5.10)."""

from turnwire_lab.agents.session_agent.habits import Status
from turnwire_lab.agents.session_agent.handlers.aborting import delete_queued
from turnwire_lab.agents.session_agent.handlers.dispatching import drain
from turnwire_lab.agents.session_agent.state.state import State


def become(state: State, status: Status) -> None:
    state.status = status
    if status == "running":
        state.tell_status(status=status, sandboxRunning=True)
    elif status in {"hibernated", "terminated", "archived", "error"}:
        state.tell_status(status=status, sandboxRunning=False)
    else:
        state.tell_status(status=status)


def hibernate(state: State) -> None:
    """Fall asleep. A prompt that comes meanwhile wakes the session once it sleeps."""
    if state.status != "running":
        return
    become(state, "hibernating")
    state.connected = state.ready = False
    state.runner.drop()
    state.rows.requeue()
    # Its sandbox stops, and so the runner's socket closes.
    _tell_loss(state)
    if state.habits.hibernate_s:
        state.later(state.habits.hibernate_s, lambda: fall_asleep(state))
    else:
        fall_asleep(state)


def fall_asleep(state: State) -> None:
    if state.status == "hibernating":
        become(state, "hibernated")
        if state.rows.queued:
            wake(state)


def wake(state: State) -> None:
    """What a prompt does to a session that sleeps; to any other state, nothing."""
    if state.status == "hibernated":
        become(state, "restoring")
        state.later(state.habits.wake_s, lambda: _restored(state))


def initialize(state: State) -> None:
    """A session that starts as `initializing` becomes ready by itself."""
    if state.status == "initializing":
        state.later(state.habits.wake_s, lambda: _restored(state))


def lose_runner(state: State) -> None:
    """The runner is gone in the middle of whatever it did."""
    if not state.connected:
        return
    state.connected = state.ready = False
    state.runner.drop()
    if state.revision != "V":
        state.rows.requeue()
    elif state.busy:
        state.later(state.habits.grace_s, lambda: _after_grace(state))
    _tell_loss(state)
    state.later(state.habits.reconnect_s, lambda: find_runner(state))
    state.later(state.habits.loss_s, lambda: _respawn(state))


def _tell_loss(state: State) -> None:
    queued = len(state.rows.queued)
    state.tell_status(runnerConnected=False, runnerDisconnected=True, queuedPrompts=queued)


def find_runner(state: State) -> None:
    """The runner is back: connected at once, ready with its first report that it is idle."""
    if state.connected or state.dead or state.status in {"hibernating", "hibernated"}:
        return
    state.connected = True
    state.tell_status(runnerConnected=True)
    state.rows.requeue()
    state.ready = True
    state.tell_idle({})
    if state.status != "running":
        # V is not `running` before its runner was idle once.
        become(state, "running")
    drain(state)


def recover(state: State) -> None:
    """The watchdog gives up prompts that no runner works on (§4.3, §5.5)."""
    reason = {} if state.revision != "V" else {"actionType": "recover", "reason": "stuck prompt"}
    for row in state.rows.processing:
        state.rows.remove(row)
    state.runner.drop()
    state.tell_status(runnerBusy=False, watchdogRecovery=True, **reason)
    drain(state)


def die(state: State, status: Status) -> None:
    """No turn gets an end, no row survives, and what is asked later waits for ever (§5.10)."""
    state.connected = state.ready = False
    state.runner.drop()
    for row in state.rows.processing:
        state.rows.remove(row)
    delete_queued(state, None)
    become(state, status)


def _restored(state: State) -> None:
    if state.status not in {"restoring", "initializing"}:
        return
    if state.revision == "V":
        become(state, "waiting_runner")
        state.later(state.habits.wake_s, lambda: find_runner(state))
    else:
        become(state, "running")
        state.later(state.habits.wake_s, lambda: find_runner(state))


def _respawn(state: State) -> None:
    if state.status == "running" and not state.connected:
        become(state, "recovering")
        state.later(state.habits.wake_s, lambda: find_runner(state))


def _after_grace(state: State) -> None:
    if not state.connected:
        state.rows.requeue()
