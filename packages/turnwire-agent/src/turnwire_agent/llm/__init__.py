"""One road to every model: a transcript goes in, a stream of events comes out.

`transcript`, `request`, `model` and `events` are what others use. `chat`, `messages`, `responses`
and `google` describe one provider's wire each, and are reached through `shapes`. All of it is pure:
bytes and values in, bytes and values out. `call` alone, and `credentials`, do I/O.
"""
