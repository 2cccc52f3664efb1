"""A file of settings: `turnwire init` writes one, and `--env-file` reads one."""
