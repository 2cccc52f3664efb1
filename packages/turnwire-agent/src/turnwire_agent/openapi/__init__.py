"""Calls the operations of OpenAPI documents, by HTTP."""
