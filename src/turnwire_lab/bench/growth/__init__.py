"""How the cost of the gateway grows, and what a million streams would take by the same prices."""
