"""`turnwire bridge`: an agent that speaks over its standard input and output, behind a WebSocket.

Read `server` first, then `process`. Each connection has a process of its own, which ends with it.
"""
