"""Observers of streams: drift detection, recordings and traces."""
