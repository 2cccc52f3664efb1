"""The reference agents: small session backends that the gateway is tried against.

`common` has what both share: the server below a wire, the tools, the skills. Each wire has a
package of its own, and the two know nothing of each other.
"""
