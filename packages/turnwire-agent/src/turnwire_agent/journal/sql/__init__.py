"""What the stores in SQL share: the statements, and the transactions that they make up.

Both are text and decisions alone. A store runs them over its own library.
"""
