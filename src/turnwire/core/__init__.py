"""The sans-I/O core: bytes and times go in, bytes and commands come out.

No code in here opens a socket, reads a clock or writes a log. Every decision
about a stream is made here, so that tests of all decisions run in milliseconds.
"""
