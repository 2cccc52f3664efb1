"""HTTP: identity, access, bodies, refusals, and the composition root."""
