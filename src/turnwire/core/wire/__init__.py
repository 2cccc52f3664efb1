"""The parts that dialects share: decoding, open turns and questions, operations, the schema."""
