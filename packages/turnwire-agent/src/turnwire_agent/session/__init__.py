"""What a session is: the events in its journal, and what they add up to. Pure."""
