"""The turn log in a Redis, for several replicas.

The process that runs a turn writes it in batches (`writer`). Every process reads the turns of all
from there (`readers`), and sends the process of a turn what its client wants (`messages`). All of
it is scripts (`scripts`) that run on one server, a cluster, or what Sentinels name (`servers`).
"""
