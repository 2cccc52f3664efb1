"""Tables about the agent runtime's model layer, made by encoding examples on each wire."""
