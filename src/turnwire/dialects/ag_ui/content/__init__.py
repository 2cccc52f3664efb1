"""What the events of a run say: text, reasoning, calls and their results, state, usage.

Read `progress` first: it decides what each event becomes. Each other module has a state of its own.
"""
