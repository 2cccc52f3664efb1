"""A scripted agent that speaks AG-UI over real HTTP, with no framework between it and the socket.

It plays an answer that a test gives it, byte by byte if need be; without one it answers the prompt
as its siblings do. Start with `server.AgUiAgent`.

    server    sockets: which run is answered how, and who hung up
    http      one connection: requests in, a response out, in any framing
    answer    what is played: a status, pieces of a body, pauses, and how it ends
    events    the events of a run, as server-sent events
    turn      one run: sends every step as events
    brain     which skill answers which prompt
    journal   what became of each request, for tests to read
"""
