"""Read and check the settings."""
