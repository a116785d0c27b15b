"""From what a store answered to an error of offloadkit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from offloadkit.errors import (
    AlreadyExists,
    BackendError,
    Corrupt,
    Denied,
    NotFound,
    StorageFull,
    TooLarge,
    Unavailable,
)

__all__ = ["Failure", "PastTheEnd", "error_for", "without_secrets"]


@dataclass(frozen=True, slots=True)
class Failure:
    """What an error of a library means.

    Attributes:
        status: The HTTP status, or the one that says the same; None when no answer came.
        code: The error code of S3 (``NoSuchKey``), or what the library calls its error.
    """

    status: int | None
    code: str


_UNAVAILABLE_CODES: Final = [
    "ConditionalRequestConflict",
    "InternalError",
    "OperationAborted",
    "RequestLimitExceeded",
    "RequestTimeout",
    "ServiceUnavailable",
    "SlowDown",
    "SlowDownRead",
    "SlowDownWrite",
    "Throttling",
    "ThrottlingException",
]
_DENIED_CODES: Final = [
    "AccessDenied",
    "AccountProblem",
    "AllAccessDisabled",
    "AuthorizationHeaderMalformed",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
    "TokenRefreshRequired",
]
_BY_CODE: Final[dict[str, type[BackendError]]] = {
    **dict.fromkeys(_UNAVAILABLE_CODES, Unavailable),
    **dict.fromkeys(_DENIED_CODES, Denied),
    **dict.fromkeys(("QuotaExceeded", "XMinioAdminBucketQuotaExceeded", "XMinioStorageFull"), StorageFull),
    **dict.fromkeys(("EntityTooLarge", "MaxMessageLengthExceeded"), TooLarge),
    "ChecksumMismatch": Corrupt,
}


class PastTheEnd(BackendError):
    """A range that begins past the last byte. `S3Backend.read` answers it with ``b""``."""


_BY_STATUS: Final[dict[int, type[BackendError]]] = {
    401: Denied,
    403: Denied,
    404: NotFound,
    408: Unavailable,
    409: Unavailable,
    412: AlreadyExists,
    413: TooLarge,
    416: PastTheEnd,
    425: Unavailable,
    429: Unavailable,
    507: StorageFull,
}
_WORDS: Final[dict[type[BackendError], str]] = {
    NotFound: "no object {key} in {place}",
    AlreadyExists: "{key} is there already in {place}",
    Unavailable: "{place} did not answer ({reason}); try again later",
    Denied: "{place} refused ({reason}); check the credentials and their permissions",
    StorageFull: "{place} is full ({reason})",
    TooLarge: "{place} does not take an object of this size ({reason})",
    Corrupt: "what {place} returned for {key} is damaged ({reason})",
    PastTheEnd: "the range begins past the end of {key}",
    BackendError: "{place} answered with an error ({reason})",
}


def error_for(failure: Failure, *, key: str | None, place: str) -> BackendError:
    """Return the error that ``failure`` stands for; only a definite "no such key" is `NotFound`."""
    if failure.code == "NoSuchBucket":
        return BackendError(f"there is no bucket for {place}; create it, or correct the URL", key=key)
    kind = _kind(failure)
    reason = f"{failure.status} {failure.code}" if failure.status else failure.code
    return kind(_WORDS[kind].format(key=key or "an object", place=place, reason=reason.rstrip()), key=key)


def without_secrets(error: Exception, secrets: Sequence[str]) -> Exception:
    """Return ``error``, or where its text holds a secret an error with a masked one."""
    text = str(error)
    if not any(secret in text for secret in secrets):
        return error
    for secret in secrets:
        text = text.replace(secret, "***")
    return RuntimeError(f"{type(error).__name__}: {text}")


def _kind(failure: Failure) -> type[BackendError]:
    if failure.code in _BY_CODE:
        return _BY_CODE[failure.code]
    if failure.status is None:
        return Unavailable
    if failure.status in _BY_STATUS:
        return _BY_STATUS[failure.status]
    return Unavailable if failure.status >= 500 else BackendError
