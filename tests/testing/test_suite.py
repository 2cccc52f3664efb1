"""The example of docs/write-a-dialect.md passes the suite."""

from testing.minimal_suite import MinimalSuite


class TestMinimal(MinimalSuite):
    seeds = 20
