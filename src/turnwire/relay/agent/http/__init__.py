"""The transport `http`: a connection to the agent is one request and its streamed response.

`transport` opens it, on a socket (`socket`) that is dialled or was kept from an earlier request
(`pool`). `exchange` is the `port.Connection`: it sends the request (`request`), reads the response
(`response`), judges its head (`refusal`), and calls the listener with the events of the body.
"""
