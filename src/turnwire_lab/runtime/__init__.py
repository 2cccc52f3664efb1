"""The agent runtime in the demo: `turnwire-agent serve` as a process that may be killed.

process    the child process: started, killed by its id, started again
served     the agent that it serves, and its tools
steering   what a very small model is asked, so that it calls the tool that a prompt names
steered    the server between the runtime and that model
"""
