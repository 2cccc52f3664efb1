"""The benchmark: turnwire and its peers under the same load, in the same run.

`docs/speed.md` has what is measured, how, and when a figure is left out.
"""
