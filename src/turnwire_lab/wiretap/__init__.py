"""The wire view: what passes on both sides of the gateway, as the demo's page shows it.

wire      the entries, kept for a while and sent to watchers
matching  which frame a chunk came from
line      the line between gateway and agent, which writes down every frame, and does harm
http_line the same line for an agent over HTTP
records   the records of a stream, cut out of what the client gets
"""
