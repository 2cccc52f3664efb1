"""The reference agent: a small session backend that speaks `v2` over a real WebSocket.

It is what the gateway is tried against and what the demo talks to. There is no model behind it: the
same prompt always gets the same answer. Start with `server.ReferenceAgent`.

    server    sockets and HTTP: who may connect, what a frame asks for
    caller    the user behind a request
    session   one session: its sockets, its queue of turns
    history   the history that `init` repeats; `parts` has its parts
    journal   what became of each prompt, for tests to read
    turn      one turn: sends every step to the sockets and writes it down
    asking    the questions of a turn that are open
    repeat    a turn once more from its beginning, for a prompt that came before
    brain     which skill answers which prompt; `dialogue`, `files` and `story` hold some
    frames    the wire: what is read, and how the agent may differ from its default
    line      the gateway's end of the wire, to try an agent without a gateway
"""
