"""The other reference agent: what agent-ops and valet really broadcast, in three revisions.

R is February 2026, A is April, V is July. The behaviour is that of the reference page of the wire
(`session-agent.md`; a section sign in a comment points there), including what is awkward: the bugs
are the reason to have it. There is no model behind it. Start with `server.SessionAgent`.

The product has two halves, and so has this: an object that holds the session and talks to every
client, and a runner that works on prompts and reports to it.

    server        the door: sockets, their frames, their users
    routes        what is refused before a socket opens, and what needs none
    caller        who is calling
    habits        the revision, and what else may differ from one agent to the next
    session       one session, put together, and the levers a test may pull
    state         what the session's object keeps, and how it tells
    room          the sockets of one session
    hello         what a socket hears first
    asked         the frames of a client
    intake        what becomes of a prompt: answered, queued, begun
    orders        the smaller things a client may ask for
    slash         commands hidden in prompts
    aborting      stopping, and what it takes along
    dispatching   from the queue to the runner and back
    lifecycle     sleep, waking up, losing the runner, death
    questions     questions and approvals, and their end
    reports       what the runner reports, and what the clients then hear
    runner        works on prompts: one at a time, or on V one a channel
    turn          one prompt's turns, as the brain tells them
    brain         what to answer to which prompt; `faults` and `tooling` are its skills
    message       the text and parts of a turn, as each revision keeps them
    rows          the queue
    channel       where in the session a prompt was asked
    attachments   which files a revision takes
    audit         the log that everybody hears
    tally         who was stopped, evicted or deleted, and by whom
    line          the other end of the wire
"""
