"""One stream of a turn, without I/O: its inputs, outputs, timers and outcome."""
