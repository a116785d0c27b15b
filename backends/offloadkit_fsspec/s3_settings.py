"""What a config URL says of a place in S3, and how it is reached."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Final, Self

from offloadkit.errors import ConfigError
from offloadkit.url import BackendURL, Option

__all__ = ["OPTIONS", "S3Settings"]

OPTIONS: Final = (
    Option(name="region", help="Region of the bucket. Default: what the AWS settings of the machine say."),
    Option(name="endpoint", help="URL of an S3-compatible server, for instance http://127.0.0.1:9000."),
    Option(name="profile", help="Section of ~/.aws/config to take credentials from (not with obstore)."),
    Option(name="access_key", secret=True, help="Access key id. Default: the credential chain of AWS."),
    Option(name="secret_key", secret=True, help="Secret access key; give it with access_key."),
    Option(name="session_token", secret=True, help="Token of temporary credentials."),
    Option(name="timeout", kind="seconds", default=2.0, help="Longest wait for a connection."),
    Option(name="read_timeout", kind="seconds", default=30.0, help="Longest wait for an answer."),
    Option(name="retries", kind="integer", default=2, help="How often a failed request is tried again."),
    Option(
        name="expiry_tags",
        kind="boolean",
        default=False,
        help="Tag objects by their time to live, for the lifecycle rules that lifecycle_rules() returns.",
    ),
)

_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")
_SEGMENT: Final = re.compile(r"[A-Za-z0-9_=@+-][A-Za-z0-9._=@+-]*")
_ENDPOINT: Final = re.compile(r"https?://[^/?#@\s]+(?:/[^?#@\s]*)?")
_ENDPOINT_VARIABLES: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Settings:
    """A bucket, a prefix in it, and the way there.

    Attributes:
        bucket: Its name.
        prefix: "" or text that ends with a slash; the name of an object is ``prefix + key``.
        region: For instance "eu-central-1", or None for what the environment says.
        endpoint: URL of an S3-compatible server, or None for AWS (or what the environment says).
        profile: A section of the AWS configuration, or None.
        access_key: With ``secret_key``, or None for the credential chain.
        secret_key: See ``access_key``.
        session_token: Of temporary credentials, or None.
        timeout: Seconds to wait for a connection.
        read_timeout: Seconds to wait for an answer.
        retries: How many times a request that failed for a passing reason is sent again.
        expiry_tags: Whether objects carry the tag that lifecycle rules go by.
    """

    bucket: str
    prefix: str = ""
    region: str | None = None
    endpoint: str | None = None
    profile: str | None = None
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    timeout: float = 2.0
    read_timeout: float = 30.0
    retries: int = 2
    expiry_tags: bool = False

    def __post_init__(self) -> None:
        """Raise `ConfigError` for what cannot be meant."""
        if not _BUCKET.fullmatch(self.bucket):
            raise ConfigError("an S3 URL names its bucket as the host: s3://bucket/prefix")
        if not all(map(_SEGMENT.fullmatch, self.prefix.split("/")[:-1])):
            raise ConfigError(
                "the prefix of an S3 URL is made of letters, digits and '._=@+-', in segments joined by '/', "
                "none of them empty or with a dot in front"
            )
        if self.endpoint is not None and not _ENDPOINT.fullmatch(self.endpoint):
            raise ConfigError("option 'endpoint' takes a URL like https://host:9000, without user and query")
        if (self.access_key is None) != (self.secret_key is None):
            raise ConfigError("options 'access_key' and 'secret_key' go together")
        if not (self.timeout > 0 and self.read_timeout > 0):
            raise ConfigError("options 'timeout' and 'read_timeout' are longer than 0 seconds")

    @classmethod
    def from_url(cls, url: BackendURL) -> Self:
        """Read ``s3://bucket[/prefix]``. Raises `ConfigError`."""
        url.allow_only("engine", "netloc", "path")
        path = url.path.strip("/")
        return cls(bucket=url.netloc, prefix=f"{path}/" if path else "", **url.options)

    @property
    def place(self) -> str:
        """The URL of the place, without options: for messages."""
        return f"s3://{self.bucket}/{self.prefix}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may hold."""
        given = (self.access_key, self.secret_key, self.session_token)
        return tuple(secret for secret in given if secret)

    def is_compatible_server(self) -> bool:
        """Say whether the other side is something else than AWS."""
        return bool(self.endpoint or any(map(os.environ.get, _ENDPOINT_VARIABLES)))
