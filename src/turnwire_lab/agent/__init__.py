"""The reference agent: a small session backend that speaks `v2` over a real WebSocket.

It is what the gateway is tried against and what the demo talks to. There is no model behind it: the
same prompt always gets the same answer. Start with `server.ReferenceAgent`.

    server    sockets and HTTP: who may connect, what a frame asks for
    visitor   who is on the line
    session   one session: its sockets, its queue of turns, its history
    brain     what to answer to which prompt
    turn      one turn: tells every step to the sockets and writes it down
    toolbox   the calculator, the clock and the search the brain may use
    history   what was said, as `init` repeats it
    frames    the wire: what is read, and how the agent may differ from its default
    line      the other end of the wire, to try an agent without a gateway
"""
