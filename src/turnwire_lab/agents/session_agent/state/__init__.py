"""What the object of a session keeps: entries, queue, sockets, audit log, counters.

state     all of it together, and how a frame goes out
sockets   the open sockets, and the users behind them
rows      the queue
message   the text and parts of a turn, as each revision keeps them
channel   where in the session a prompt was asked
audit     the log that every client gets
tally     who was stopped, evicted or deleted, and by whom
"""
