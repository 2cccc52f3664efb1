"""What both reference agents share.

server      a listener, sockets, sessions by id
identity    the user behind a request
frames      JSON objects
line        the client's end of a connection, to try an agent without a gateway
skills      how a prompt finds its answer, and the answers that both agents give
wording     text for numbers and words
toolbox     the tools: `calculator`, `clock` and `search`; `tool` says what a tool is
"""
