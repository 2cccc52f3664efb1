"""The AI SDK's UI message stream: chunks, their order, their bytes."""
