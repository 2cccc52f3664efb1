"""Looks at a gateway through its real ingress, and says what is wrong on the way.

A client tool: it knows the gateway by its HTTP surface alone.
"""
