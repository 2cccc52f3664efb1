"""The other reference agent: what agent-ops and valet really broadcast, in three revisions.

R is February 2026, A is April, V is July. The behaviour is that of the reference page of the wire
(`session-agent.md`; a section sign in a comment points there), including what is awkward: the bugs
are the reason to have it. There is no model behind it. Start with `server.SessionAgent`.

The product has two halves, and so has this: an object that holds the session and talks to every
client (`state` and `handlers`), and a runner that works on prompts and reports to it (`runner`).

    server     sockets, their frames, their users
    routes     what is refused before a socket opens, and what needs none
    caller     the user behind a request
    habits     the revision, and what else may differ from one agent to the next
    session    one session, put together, and the levers a test may pull
    line       the client's end of a connection, to try the agent without a gateway
"""
