"""The client library of MCP: all that is known of it stands here, and nothing else imports it."""
