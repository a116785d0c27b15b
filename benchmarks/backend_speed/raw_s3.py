"""S3 through a client alone, its metadata in headers: boto3, s3fs and obstore as their manuals show them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from backend_speed.clients import META, Payload

__all__ = ["RawBoto3", "RawObstore", "RawS3fs", "S3Place"]


@dataclass(frozen=True, slots=True)
class S3Place:
    """A bucket on a server that takes any credentials.

    Attributes:
        endpoint: The URL of the server.
        bucket: The bucket, which is there already.
    """

    endpoint: str
    bucket: str
    access_key: str = "benchmark"
    secret_key: str = "benchmark"
    region: str = "us-east-1"


def _headers(payload: Payload) -> dict[str, str]:
    return {"meta": META.decode(), "created": repr(time.time()), "expires": repr(payload.expires_at)}


class RawBoto3:
    """boto3, without the checksums that it adds by default and that ours leaves out here as well."""

    def __init__(self, place: S3Place, prefix: str) -> None:
        self._client = boto3_client(place)
        self._where = {"Bucket": place.bucket}
        self._prefix = prefix

    def put(self, key: str, payload: Payload) -> None:
        self._client.put_object(
            **self._at(key), Body=payload.data, IfNoneMatch="*", Metadata=_headers(payload)
        )

    def read(self, key: str) -> bytes:
        return self._client.get_object(**self._at(key))["Body"].read()  # type: ignore[no-any-return]

    def read_range(self, key: str, start: int, length: int) -> bytes:
        wanted = f"bytes={start}-{start + length - 1}"
        return self._client.get_object(**self._at(key), Range=wanted)["Body"].read()  # type: ignore[no-any-return]

    def close(self) -> None:
        self._client.close()

    def _at(self, key: str) -> Mapping[str, str]:
        return {**self._where, "Key": f"{self._prefix}{key}"}


class RawS3fs:
    """The file methods of s3fs; a read without a range costs it two requests, so that it gets a range."""

    def __init__(self, place: S3Place, prefix: str) -> None:
        from s3fs import S3FileSystem  # noqa: PLC0415  takes 0.8 s, and is not always there

        when_required = dict.fromkeys(
            ("request_checksum_calculation", "response_checksum_validation"), "when_required"
        )
        self._files = S3FileSystem(
            key=place.access_key,
            secret=place.secret_key,
            endpoint_url=place.endpoint,
            client_kwargs={"region_name": place.region},
            config_kwargs=when_required,
            use_listings_cache=False,
            skip_instance_cache=True,
        )
        self._root = f"{place.bucket}/{prefix}"

    def put(self, key: str, payload: Payload) -> None:
        self._files.pipe_file(self._root + key, payload.data, mode="create", Metadata=_headers(payload))

    def read(self, key: str) -> bytes:
        return self._files.cat_file(self._root + key, start=0)  # type: ignore[no-any-return]

    def read_range(self, key: str, start: int, length: int) -> bytes:
        return self._files.cat_file(self._root + key, start=start, end=start + length)  # type: ignore[no-any-return]


class RawObstore:
    """obstore."""

    def __init__(self, place: S3Place, prefix: str) -> None:
        import obstore  # noqa: PLC0415  not always there
        from obstore.store import S3Store  # noqa: PLC0415

        self._obstore = obstore
        self._store = S3Store(
            place.bucket,
            prefix=prefix,
            endpoint=place.endpoint,
            access_key_id=place.access_key,
            secret_access_key=place.secret_key,
            region=place.region,
            client_options={"allow_http": urlsplit(place.endpoint).scheme == "http"},
        )

    def put(self, key: str, payload: Payload) -> None:
        self._obstore.put(
            self._store,
            key,
            payload.data,
            attributes=_headers(payload),
            mode="create",
            use_multipart=False,
        )

    def read(self, key: str) -> bytes:
        return bytes(self._obstore.get(self._store, key).bytes())

    def read_range(self, key: str, start: int, length: int) -> bytes:
        return bytes(self._obstore.get_range(self._store, key, start=start, length=length))


def boto3_client(place: S3Place) -> Any:
    """Return a client of boto3."""
    import boto3  # noqa: PLC0415  not always there
    from botocore.config import Config  # noqa: PLC0415

    return boto3.client(
        "s3",
        endpoint_url=place.endpoint,
        region_name=place.region,
        aws_access_key_id=place.access_key,
        aws_secret_access_key=place.secret_key,
        config=Config(
            request_checksum_calculation="when_required", response_checksum_validation="when_required"
        ),
    )
