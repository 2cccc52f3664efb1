"""An append of rows alone in one statement: what a stream of text does, again and again.

It says what the statements of `sql.transactions.append` say, in one round trip.
"""

from collections.abc import Sequence
from typing import Final

from turnwire_agent.journal.port import Appended, Lease, LeaseLostError, Row
from turnwire_agent.journal.sql.transactions import Query, Transaction

APPEND: Final = """
with advanced as (
    update journal_session set
        head = head + :rows,
        settled = case when :settle then head + :rows else settled end
    where id = :session and owner = :owner and epoch = :epoch
    returning head
), written as (
    insert into journal_row (session, seq, epoch, kind, body, detail)
    select :session, advanced.head - :rows + number, :epoch, kind, body, detail
    from advanced, unnest(:kinds::text[], :bodies::bytea[], :details::boolean[])
        with ordinality as added (kind, body, detail, number)
)
select head, pg_notify(:channel, :payload) from advanced
"""


def append(
    lease: Lease, rows: Sequence[Row], *, settle: bool, notification: Query
) -> Transaction[Appended]:
    (advanced,) = yield [
        Query(
            APPEND,
            {
                "session": lease.session,
                "owner": lease.owner,
                "epoch": lease.epoch,
                "rows": len(rows),
                "settle": settle,
                "kinds": [row.kind for row in rows],
                "bodies": [row.body for row in rows],
                "details": [row.detail for row in rows],
                **notification.parameters,
            },
        )
    ]
    if not advanced:
        raise LeaseLostError
    return Appended(advanced[0][0])
