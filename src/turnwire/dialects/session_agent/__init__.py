"""The `session-agent` dialect: what agent-ops and valet really send to a client socket.

The reference is the wire page `session-agent.md`; "page 6" in this package is
its section 6. Three revisions are spoken (R, A, V), told apart by what they
send, never by a setting. Read `conversation` first, then `whose`.
"""
