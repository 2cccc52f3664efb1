"""The version of the surface."""

from typing import Final

SURFACE: Final = "1"
"""The version of `turnwire.dialect`. A dialect may name the one that it is written for, as its
attribute `surface`: then a gateway with another one does not start with it."""
