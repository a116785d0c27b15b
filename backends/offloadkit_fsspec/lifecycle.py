"""Expiry by the bucket's own lifecycle rules.

S3 deletes by rules, not by the expiry of an object: a rule names a prefix or a tag and a number of days. An
object that expires can therefore carry a tag that says how long it is to live, rounded up to one of a few
classes, and one rule per class deletes what carries its tag. A tag is no part of the name, so the key alone
still finds the object.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["CLASSES_DAYS", "expiry_tag", "lifecycle_rules"]

TAG: Final = "offloadkit-ttl"
CLASSES_DAYS: Final = (1, 2, 3, 7, 14, 30, 60, 90, 180, 365)
_DAY_SECONDS: Final = 86_400


def expiry_tag(seconds: float | None) -> dict[str, str]:
    """Return the tag of an object that lives for ``seconds``; none when no class is long enough for it."""
    if seconds is None:
        return {}
    days = next((days for days in CLASSES_DAYS if seconds <= days * _DAY_SECONDS), None)
    return {} if days is None else {TAG: f"{days}d"}


def lifecycle_rules(prefix: str) -> dict[str, Any]:
    """Return what ``put_bucket_lifecycle_configuration`` takes as LifecycleConfiguration.

    One rule per class, and one that removes the parts of uploads that were never finished. A bucket has one
    configuration: merge these rules with those that are there.

    Args:
        prefix: That of the backend's objects, with its slash, or "" for the whole bucket.
    """
    rules: list[dict[str, Any]] = [_expiration(prefix, days) for days in CLASSES_DAYS]
    unfinished = {
        "ID": "offloadkit-unfinished-uploads",
        "Status": "Enabled",
        "Filter": {"Prefix": prefix},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
    }
    return {"Rules": [*rules, unfinished]}


def _expiration(prefix: str, days: int) -> dict[str, Any]:
    tag = {"Key": TAG, "Value": f"{days}d"}
    return {
        "ID": f"offloadkit-{days}d",
        "Status": "Enabled",
        "Filter": {"And": {"Prefix": prefix, "Tags": [tag]}} if prefix else {"Tag": tag},
        "Expiration": {"Days": days},
    }
