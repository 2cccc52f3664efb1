"""The mapping tables of wires, each made by its dialect."""
