"""What gives the answers in a host: a loop over a model, or somebody else's agent."""
