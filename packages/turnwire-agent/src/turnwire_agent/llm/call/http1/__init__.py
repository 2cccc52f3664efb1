"""HTTP/1.1 under the HTTP library: connections, their pool, and answers as they come.

A model's answer comes in hundreds of small reads, and the library's own transport takes as long for
one of them as all the rest of the runtime. `h11` writes requests and reads heads here. Bodies are
read by `framing`, which is tried against `h11` in the tests.
"""
