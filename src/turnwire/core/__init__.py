"""The sans-I/O core: bytes and times in, bytes and commands out.

Nothing in here opens a socket, reads a clock or writes a log. Every decision
about a stream is made here, so that all of them are tested in milliseconds.
"""
