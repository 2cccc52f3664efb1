"""The terminal chat: what a useChat client does, in a terminal.

talk      the conversation: prompts in, turns out, how it ends
wire      one turn over HTTP: the POST, and the records of its stream
screen    what a person sees of a chunk
"""
