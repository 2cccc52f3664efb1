"""The lab: a reference agent, the demo, a terminal chat. Never imported by `turnwire`."""
