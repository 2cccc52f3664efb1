"""What goes wrong on purpose: once for the next prompt, or at once."""

from turnwire_lab.wiretap.harm import FAULTS, KILLED, Harm


def test_a_fault_waits_for_the_next_prompt_of_its_session() -> None:
    harm = Harm(lambda: None)
    harm.plan("s1", "agent-dies")

    assert harm.take("s2", of_client=False) is None
    assert harm.take("s1", of_client=True) is None
    assert harm.take("s1", of_client=False) == "agent-dies"
    assert harm.take("s1", of_client=False) is None


def test_a_process_is_killed_at_once_and_no_prompt_waits_for_it() -> None:
    killed: list[str] = []
    harm = Harm(lambda: None, killed.append)
    harm.plan("s1", KILLED)

    assert killed == ["s1"]
    assert harm.take("s1", of_client=False) is None


def test_where_no_process_may_be_killed_nothing_happens() -> None:
    harm = Harm(lambda: None)
    harm.plan("s1", KILLED)

    assert harm.take("s1", of_client=False) is None
    assert KILLED not in FAULTS
