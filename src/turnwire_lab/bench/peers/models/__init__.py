"""Libraries that read a model's answer, each by one call. None of them is a module of ours."""
