"""Every statement of a journal in SQL. SQLite and Postgres take the same words.

Parameters are `:name`. `:now` is the clock of the store, in seconds since 1970. They are shown in
docs/agent-journal.md, for a store of one's own.
"""

from typing import Final

POSITION: Final = """
select head, arrivals from journal_session where id = :session
"""
"""How far a session is. `follow` asks, where no notification of another process comes."""

READ: Final = """
select seq, epoch, kind, body, detail from journal_row
where session = :session and seq > :after and not detail
union all
select seq, epoch, kind, body, detail from journal_row
where session = :session and detail and seq > (
    select case when :details or settled < :after then :after else settled end
    from journal_session where id = :session
)
order by seq limit :limit
"""

ARRIVE: Final = """
insert into journal_session (id, arrivals, due_at) values (:session, 1, :now)
on conflict (id) do update set
    arrivals = journal_session.arrivals + 1,
    due_at = case
        when journal_session.owner is null
            and (journal_session.due_at is null or journal_session.due_at > excluded.due_at)
        then excluded.due_at else journal_session.due_at
    end
returning arrivals
"""
"""The session of a new command. It is locked from here to the end of the transaction."""

PUT: Final = """
insert into journal_command (session, id, number, kind, body)
values (:session, :id, :number, :kind, :body)
on conflict (session, id) do nothing
returning number
"""

WAITING: Final = """
select count(*), coalesce(sum(length(body)), 0) from journal_command
where session = :session and not taken and number > 0
"""
"""With the number, though all are above 0: SQLite then looks in the index of those that wait."""

COMMANDS: Final = """
select id, kind, body, number from journal_command
where session = :session and not taken order by number limit :limit
"""

CLAIM: Final = """
insert into journal_session (id, owner, epoch, due_at)
values (:session, :owner, 1, :now + :lease_s)
on conflict (id) do update set
    owner = excluded.owner, epoch = journal_session.epoch + 1, due_at = excluded.due_at
where journal_session.owner is null
    or journal_session.owner = excluded.owner
    or journal_session.due_at <= :now
returning epoch, :now
"""

RENEW: Final = """
update journal_session set due_at = :now + :lease_s where owner = :owner returning id
"""

ADVANCE: Final = """
update journal_session set
    head = head + :rows,
    settled = case when :settle then head + :rows else settled end
where id = :session and owner = :owner and epoch = :epoch
returning head, arrivals
"""
"""The fence: an older epoch changes no row, and nothing else of the transaction is done."""

WRITE: Final = """
insert into journal_row (session, seq, epoch, kind, body, detail)
values (:session, :seq, :epoch, :kind, :body, :detail)
"""

TAKE: Final = """
update journal_command set taken = true, body = null
where session = :session and id = :id
"""
"""The id stays, so that the same command is not taken a second time."""

FORGET: Final = """
delete from journal_command where session = :session and taken and number <= :number
"""

RECORD: Final = """
insert into journal_effect (key, call, input_hash, state, result)
values (:key, :call, :input_hash, :state, :result)
on conflict (key) do update set
    input_hash = excluded.input_hash, state = excluded.state, result = excluded.result
where journal_effect.call = excluded.call
returning key
"""

RELEASE: Final = """
update journal_session set owner = null, due_at = case
    when exists (
        select 1 from journal_command where session = :session and not taken and number > 0
    )
    then :now else :wake_at
end
where id = :session
"""

EFFECT: Final = """
select key, call, input_hash, state, result from journal_effect where key = :key
"""

DUE: Final = """
select id from journal_session where due_at <= :now order by due_at, id limit :limit
"""

SESSIONS: Final = """
select id from journal_session where id > :after order by id limit :limit
"""
