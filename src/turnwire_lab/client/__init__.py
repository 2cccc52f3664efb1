"""A client of the gateway for programs: the terminal chat's, and the tests'.

client    what one asks of a session: a turn, its rest, a stop, an answer, the history
stream    one turn as it comes, to its `finish`
chunks    what a stream is made of
message   what a chat holds at the end of it
errors    how it can go wrong
"""
