"""The runner works on prompts: one at a time, or on V one for each channel.

runner    which prompts run
turn      the turns of one prompt
brain     which skill answers which prompt; `faults` and `tooling` have the skills of this agent
"""
