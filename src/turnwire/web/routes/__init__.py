"""The routes: one endpoint class each, and the responses they build."""
