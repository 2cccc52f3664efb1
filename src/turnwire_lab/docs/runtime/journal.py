"""The tables and the statements of a journal, for whoever writes a store of their own."""

import textwrap
from collections.abc import Mapping
from typing import Final

from turnwire_agent.journal.sql import statements
from turnwire_agent.journal.sqlite import schema

WHAT: Final[Mapping[str, str]] = {
    "CLAIM": "`claim`. No row: another owner has the lease.",
    "RENEW": "`renew`. Its rows are the sessions that the owner still holds.",
    "ADVANCE": "`append`, first. No row: the lease is lost, and nothing else is done.",
    "RECORD": "`append`, for each effect. No row: the key is another call's; undo all of it.",
    "WRITE": "`append`, for each row.",
    "TAKE": "`append`, for each command that is taken. The id stays, and the body goes.",
    "FORGET": "`append`, if it takes commands: ids of old ones go.",
    "RELEASE": "`append`, last, if the lease is given up.",
    "ARRIVE": "`put`, first. It makes the session and locks it, and numbers the command.",
    "PUT": "`put`. No row: the id is known; undo all of it.",
    "WAITING": (
        "`put`, last. Above 1,000 commands: undo all of it. Above 64 MiB: undo all of it, unless "
        "the new body has 4,096 bytes at most, or no other command waits."
    ),
    "READ": "`read`.",
    "COMMANDS": "`commands`.",
    "EFFECT": "`effect`.",
    "DUE": "`due`.",
    "SESSIONS": "`sessions`.",
    "POSITION": "`follow`, for each session, where no notification comes.",
}
"""When each statement is made, and what it means if it returns nothing."""


def every_statement() -> str:
    return "\n\n".join(f"{what}\n\n{_code(_statement(name))}" for name, what in WHAT.items())


def every_table() -> str:
    return _code(";\n\n".join(statement.strip() for statement in schema.TABLES) + ";")


def _statement(name: str) -> str:
    statement: str = getattr(statements, name)
    return statement


def _code(text: str) -> str:
    return f"```sql\n{textwrap.dedent(text).strip()}\n```"
