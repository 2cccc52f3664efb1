"""Plays scenarios against a running agent, through its real wire, and says how it behaves.

What it sees is what a gateway would see: the same transports, dialects and turns are at work. It is
no server. Begin at `run.play_all`; the scenarios are in `scenarios`.
"""
