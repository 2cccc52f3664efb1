"""The demo's page: a chat in the browser, with the wire beside it.

serving   the one server the browser talks to: the page, the gateway behind it, the wire
forward   requests to the gateway and their streams back, written down on the way
guard     the safety headers of every response, and which hosts are answered
"""
