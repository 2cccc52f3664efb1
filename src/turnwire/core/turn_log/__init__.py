"""The turn log without its I/O: the events of a running turn as bytes, and a turn made of them.

An agent that cannot repeat its turns has this beside it: `tee` keeps what a stream is fed, and
`protocol` is an agent protocol that reads it, so that any stream of the turn can begin again.
"""
