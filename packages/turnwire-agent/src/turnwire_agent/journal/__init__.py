"""The append-only truth of every session: `memory`, `sqlite`, `postgres`.

A journal keeps rows and does not know what is in them. What they mean is in
`turnwire_agent.session`.
"""
