"""What a request shows to prove who asks: an API key, a token that is refreshed, or an own class.

`port` has what a caller needs: `Credential`, `Granted`, `CredentialError`. `api_key` and
`refreshing` are the two kinds that come with the runtime. An operator may write a third.

Where secrets are, and where they are not:

* In memory they are wrapped (`secret.Secret`). No `repr`, `str` or exception of these modules
  holds one, and these modules write no log.
* Tokens that are refreshed stand in a SQLite file of mode 0600 (`token_store`). The file is not
  opened if its group or others may read it. **Without a seal the tokens stand in it as they are**:
  whoever can read the files of this user, or a backup of them, has them. With a seal (`fernet`,
  which needs the package `cryptography`) they are encrypted, and expiry and name are not.
* An API key is never written anywhere.
"""
