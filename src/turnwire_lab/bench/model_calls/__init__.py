"""Calls of models: what a program that reads a model's answer takes of the processor."""
