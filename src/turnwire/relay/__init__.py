"""The I/O layer: sockets, timers and tasks. It executes the decisions of `core`, and makes none."""
