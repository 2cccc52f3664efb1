"""Checks a gateway through its real ingress, and reports what is wrong between client and gateway.

It is a client: it uses only the public HTTP interface of the gateway. Begin at `checkup.Checkup`.
"""
