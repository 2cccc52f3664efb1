"""`POST /v1/generate`: one call of a model for programs in other languages.

A request is the neutral transcript as JSON; the answer is a stream of parts, in the words of the AI
SDK's `LanguageModelV4`. `question` and `parts` are pure; `app` is the server.
"""
