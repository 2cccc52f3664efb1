"""The load tools in Python, for a quick look where there is no C compiler.

They are slower than what they measure: rates read low, latencies read high.
"""
