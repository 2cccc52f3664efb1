"""An agent on a command line: which one it is, and what it is made of."""
