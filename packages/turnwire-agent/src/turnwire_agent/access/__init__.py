"""Who may speak to a server of ours: on loopback anybody, elsewhere who has a token.

`access` is the rule for a request. A token is one that stands in a file (`file_token`), or one that
an issuer signed for a user, as a gateway forwards it (`signed_tokens`, by the extra `tokens`).
"""
