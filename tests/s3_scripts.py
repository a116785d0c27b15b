"""What a stub server plays: a small S3 that keeps the rules only as far as it is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import unquote

from s3_servers import Answer, Request, error_answer


@dataclass
class SmallS3:
    """Objects in a dictionary: PUT, GET, HEAD and DELETE of one object.

    Attributes:
        honours_create: Whether ``If-None-Match`` counts.
        honours_ranges: Whether ``Range`` counts; else the whole object is the answer, with status 200.
        before: Called first with each request; what it returns, if anything, is the answer.
        after: Called with a request and its answer; returns what is sent.
    """

    honours_create: bool = True
    honours_ranges: bool = True
    before: Callable[[Request], Answer | None] = lambda _: None
    after: Callable[[Request, Answer], Answer] = lambda _, answer: answer
    objects: dict[str, tuple[bytes, dict[str, str]]] = field(default_factory=dict)

    def __call__(self, request: Request) -> Answer:
        answer = self.before(request) or getattr(self, request.method.lower())(request, unquote(request.path))
        return self.after(request, answer)

    def put(self, request: Request, name: str) -> Answer:
        if self.honours_create and "if-none-match" in request.headers and name in self.objects:
            return error_answer(412, "PreconditionFailed")
        meta = {
            header: value for header, value in request.headers.items() if header.startswith("x-amz-meta-")
        }
        self.objects[name] = (request.body, meta)
        return Answer(200, headers={"ETag": '"1"'})

    def get(self, request: Request, name: str) -> Answer:
        if name not in self.objects:
            return error_answer(404, "NoSuchKey")
        data, meta = self.objects[name]
        headers = {"ETag": '"1"', "Last-Modified": "Tue, 01 Dec 2026 00:00:00 GMT", **meta}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
        if wanted is None or not self.honours_ranges:
            return Answer(200, data, headers)
        start, end = int(wanted[1]), min(int(wanted[2] or len(data)) + 1, len(data))
        if start >= len(data):
            return error_answer(416, "InvalidRange")
        return Answer(
            206, data[start:end], {**headers, "Content-Range": f"bytes {start}-{end - 1}/{len(data)}"}
        )

    def head(self, request: Request, name: str) -> Answer:
        found = self.get(request, name)
        return Answer(found.status, found.body, found.headers)

    def delete(self, request: Request, name: str) -> Answer:
        self.objects.pop(name, None)
        return Answer(204)


LISTING_OF_NOTHING = Answer(
    200,
    b'<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>',
    {"Content-Type": "application/xml"},
)


def deletion(request: Request, *, refused: str = "") -> Answer:
    """Return the answer to a bulk delete: all the keys are gone, but for one that is ``refused``."""
    keys = re.findall("<Key>([^<]*)</Key>", request.body.decode())
    gone = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys if key != refused)
    error = f"<Error><Key>{refused}</Key><Code>AccessDenied</Code><Message>no</Message></Error>"
    rest = error if refused in keys else ""
    return Answer(200, f'<?xml version="1.0"?><DeleteResult>{gone}{rest}</DeleteResult>'.encode())
