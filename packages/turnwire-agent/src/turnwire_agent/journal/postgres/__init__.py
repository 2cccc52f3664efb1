"""A journal in Postgres, for replicas on several machines: `journal.PostgresJournal`.

It needs the extra `postgres`.
"""
