"""Models without a network and without a key, for trying the agents beside this folder."""
