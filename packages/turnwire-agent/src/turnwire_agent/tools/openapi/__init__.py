"""OpenAPI documents, 3.0 and 3.1, as operations that are tools. Requests are sent elsewhere."""
