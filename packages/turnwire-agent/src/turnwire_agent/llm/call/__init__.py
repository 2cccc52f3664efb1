"""The HTTP call of a model: the one place where the pure parts of `llm` meet a socket.

`stream.stream` is what others use. `http` alone knows the HTTP library: another one costs one file.
"""
