"""The terminal chat: what a useChat client does, in a terminal.

talk      the conversation: prompts and commands in, turns out
turn      one turn: read along, stopped, taken up again after a lost connection
asking    the agent's questions, asked on the way
seen      what of a turn was shown, so that nothing is shown twice
screen    what a person sees of a chunk
ending    how a turn can end
lines     the input of a person or a pipe, line by line
stop      what Ctrl-C means when
"""
