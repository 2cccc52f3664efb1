"""Tokens, good and bad ones."""

import base64
import json
import time
from typing import Any

import jwt

KEY = "a-key-for-tests-of-32-bytes-at-least!"
OTHER_KEY = "another-key-of-32-bytes-at-least-here"
NEXT_KEY = "the-key-after-the-next-rotation-of-keys"


def claims(user: str = "u1", **more: Any) -> dict[str, Any]:
    """Claims of a collaborator of every session; `None` takes one away."""
    now = int(time.time())
    all_of_them = {"sub": user, "iat": now, "exp": now + 600, "sessions": {"*": "collaborator"}}
    return {name: value for name, value in (all_of_them | more).items() if value is not None}


def token(user: str = "u1", *, key: str = KEY, algorithm: str = "HS256", **more: Any) -> str:
    return jwt.encode(claims(user, **more), key, algorithm)


def bearer(user: str = "u1", **more: Any) -> dict[str, str]:
    return {"authorization": f"Bearer {token(user, **more)}"}


def handmade(header: dict[str, Any], payload: object, signature: bytes = b"") -> str:
    """A token that no library would make."""
    parts = (json.dumps(header).encode(), json.dumps(payload).encode(), signature)
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
