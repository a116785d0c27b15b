"""S3 through s3fs: its credentials, its sessions, its client.

The requests go to the client that s3fs makes (aiobotocore) rather than through its file methods: those keep
listings and sizes that other processes have long made untrue, look an object up before reading it, and drop
the errors of a bulk delete.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp
from aiobotocore.session import AioSession
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    FlexibleChecksumError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)
from botocore.exceptions import ConnectionError as NoConnectionError
from botocore.loaders import create_loader
from s3fs import S3FileSystem

from offloadkit.loop_thread import LoopThread
from offloadkit_fsspec.failures import Failure, error_for
from offloadkit_fsspec.s3_engine import Head, Listing
from offloadkit_fsspec.s3_settings import S3Settings

__all__ = ["MULTIPART_BYTES", "S3fsEngine"]

MULTIPART_BYTES: Final = 64 * 2**20
PART_BYTES: Final = 16 * 2**20
_PARTS_AT_ONCE: Final = 4
_CONNECTIONS: Final = 32

_NO_CREDENTIALS: Final = (
    CredentialRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)
_SERVICE_DESCRIPTIONS: Final = create_loader(os.environ.get("AWS_DATA_PATH"))  # 0.15 s to read, so read once
_NO_ANSWER: Final = (NoConnectionError, HTTPClientError, aiohttp.ClientError, OSError, asyncio.TimeoutError)


class S3fsEngine:
    """Sends requests to one bucket; see `offloadkit_fsspec.s3_engine.Engine`."""

    errors: tuple[type[Exception], ...] = (ClientError, BotoCoreError, aiohttp.ClientError, OSError)

    def __init__(
        self, settings: S3Settings, *, multipart_bytes: int = MULTIPART_BYTES, part_bytes: int = PART_BYTES
    ) -> None:
        """Make a client. It connects when it sends its first request.

        Args:
            settings: Where the bucket is.
            multipart_bytes: Objects larger than this are sent in parts.
            part_bytes: The size of a part; S3 takes none below 5 MiB but the last.
        """
        self._bucket = settings.bucket
        self._multipart_bytes = multipart_bytes
        self._part_bytes = part_bytes
        self._thread = LoopThread()
        self._files = S3FileSystem(
            session=_session(settings),
            **_credentials(settings),
            endpoint_url=settings.endpoint,
            client_kwargs={"region_name": settings.region} if settings.region else {},
            config_kwargs=_config(settings),
            loop=self._thread.loop,
            use_listings_cache=False,
            skip_instance_cache=True,
        )
        try:
            self._client: Any = self._thread.run(self._files.set_session())
        except self.errors as error:
            self._thread.close(asyncio.sleep(0))
            raise error_for(self.failure(error), key=None, place=settings.place) from error

    def failure(self, error: Exception) -> Failure:
        """Read an error of botocore or of the connection."""
        if isinstance(error, ClientError):
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
            return Failure(status, str(error.response.get("Error", {}).get("Code", "")))
        name = type(error).__name__
        if isinstance(error, _NO_CREDENTIALS):
            return Failure(401, name)
        if isinstance(error, FlexibleChecksumError):
            return Failure(200, "ChecksumMismatch")
        return Failure(None if isinstance(error, _NO_ANSWER) else 400, name)

    def put(self, name: str, data: bytes, headers: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Create an object, in parts when it is large."""
        labels = _labels(headers, tags)
        if len(data) > self._multipart_bytes:
            self._thread.run(self._put_in_parts(name, data, labels))
        else:
            self._request("put_object", Key=name, Body=data, IfNoneMatch="*", **labels)

    def get(self, name: str, start: int, end: int | None) -> bytes:
        """Return a range, whatever a server makes of the header that asks for it."""
        return self._thread.run(self._get(name, start, end))

    def head(self, name: str) -> Head:
        """Describe an object."""
        answer = self._request("head_object", Key=name)
        return Head(answer["ContentLength"], answer.get("Metadata", {}), answer.get("ETag", ""))

    def relabel(self, name: str, head: Head, headers: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Copy the object onto itself within S3: nobody sees it without its bytes."""
        self._request(
            "copy_object",
            Key=name,
            CopySource={"Bucket": self._bucket, "Key": name},
            CopySourceIfMatch=head.etag,
            MetadataDirective="REPLACE",
            TaggingDirective="REPLACE",
            **_labels(headers, tags),
        )

    def list(self, prefix: str, *, after: str, limit: int) -> Listing:
        """Return one page of names."""
        begin = {"StartAfter": after} if after else {}
        answer = self._request("list_objects_v2", Prefix=prefix, MaxKeys=min(limit, 1000), **begin)
        sizes = tuple((item["Key"], item["Size"]) for item in answer.get("Contents", ()))
        return Listing(sizes, more=answer["IsTruncated"])

    def delete(self, names: Sequence[str]) -> Mapping[str, Failure]:
        """Delete up to 1,000 objects in one request."""
        answer = self._request(
            "delete_objects", Delete={"Objects": [{"Key": name} for name in names], "Quiet": True}
        )
        return {item["Key"]: Failure(None, item.get("Code", "")) for item in answer.get("Errors", ())}

    def close(self) -> None:
        """Close the sessions and end the thread."""
        self._thread.close(self._client.close())

    def _request(self, method: str, **arguments: Any) -> Any:
        return self._thread.run(getattr(self._client, method)(Bucket=self._bucket, **arguments))

    async def _get(self, name: str, start: int, end: int | None) -> bytes:
        ranged = start > 0 or end is not None
        wanted = {"Range": f"bytes={start}-{'' if end is None else end - 1}"} if ranged else {}
        answer = await self._client.get_object(Bucket=self._bucket, Key=name, **wanted)
        async with answer["Body"] as body:
            data: bytes = await body.read()
        if len(data) != answer["ContentLength"]:
            raise aiohttp.ClientPayloadError(f"{len(data)} of {answer['ContentLength']} bytes arrived")
        is_whole = ranged and "ContentRange" not in answer
        return data[start:end] if is_whole else data

    async def _put_in_parts(self, name: str, data: bytes, labels: Mapping[str, Any]) -> None:
        upload = await self._client.create_multipart_upload(Bucket=self._bucket, Key=name, **labels)
        where = {"Bucket": self._bucket, "Key": name, "UploadId": upload["UploadId"]}
        try:
            parts = await self._upload_parts(data, where)
            await self._client.complete_multipart_upload(
                **where, MultipartUpload={"Parts": parts}, IfNoneMatch="*"
            )
        except BaseException:
            await self._client.abort_multipart_upload(**where)
            raise

    async def _upload_parts(self, data: bytes, where: Mapping[str, str]) -> Sequence[dict[str, Any]]:
        permits = asyncio.Semaphore(_PARTS_AT_ONCE)

        async def upload(number: int, part: memoryview) -> dict[str, Any]:
            async with permits:
                answer = await self._client.upload_part(**where, PartNumber=number, Body=bytes(part))
            return {"PartNumber": number, "ETag": answer["ETag"]}

        numbered = enumerate(_parts(data, self._part_bytes), start=1)
        return list(await asyncio.gather(*(upload(number, part) for number, part in numbered)))


def _session(settings: S3Settings) -> AioSession:
    session = AioSession(profile=settings.profile)
    session.register_component("data_loader", _SERVICE_DESCRIPTIONS)
    return session


def _credentials(settings: S3Settings) -> dict[str, Any]:
    return {"key": settings.access_key, "secret": settings.secret_key, "token": settings.session_token}


def _config(settings: S3Settings) -> dict[str, Any]:
    config: dict[str, Any] = {
        "connect_timeout": settings.timeout,
        "read_timeout": settings.read_timeout,
        "retries": {"total_max_attempts": 1, "mode": "standard"},
        "max_pool_connections": _CONNECTIONS,
    }
    if settings.is_compatible_server():
        # Many of them refuse the checksums that botocore adds of its own accord.
        config["request_checksum_calculation"] = "when_required"
        config["response_checksum_validation"] = "when_required"
    return config


def _labels(headers: Mapping[str, str], tags: Mapping[str, str]) -> dict[str, Any]:
    labels: dict[str, Any] = {"Metadata": dict(headers)}
    if tags:
        labels["Tagging"] = urlencode(tags)
    return labels


def _parts(data: bytes, size: int) -> Iterator[memoryview]:
    view = memoryview(data)
    return (view[begin : begin + size] for begin in range(0, len(view), size))
