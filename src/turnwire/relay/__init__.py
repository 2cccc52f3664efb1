"""The shell: sockets, timers and tasks. It carries what the core decides, and decides nothing."""
