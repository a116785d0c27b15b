"""Stored results above any backend: references, metadata, integrity, line index, retention.

One stored result is one object, written by one ``put``::

    text (UTF-8) · structure (JSON, may be empty) · line index (base64, of large texts only)

The text stands first, so that a page of it is one ranged read, and all of it is text, so that ``grep`` works
where objects are files. What the parts are is in the object's metadata. An archive belongs to one session: it
builds every key itself, from the namespace and the session that the program gave and from the content, never
from anything that a model or a tool said.
"""

from __future__ import annotations

import base64
import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from offloadkit.backend import Backend, Stat, SupportsSetExpiry
from offloadkit.content import JSON, EncodedContent, decode, digest_of
from offloadkit.errors import AlreadyExists, Corrupt, NotFound
from offloadkit.lines import LineIndex
from offloadkit.reading import StoredText
from offloadkit.references import is_reference, key_segment, reference_for
from offloadkit.retention import objects

__all__ = ["Archive", "StoredMeta"]

REMEMBERED_RESULTS: Final = 4096
_WHOLE_READ_BYTES: Final = 64 * 1024

_log = logging.getLogger("offloadkit")


@dataclass(frozen=True, slots=True)
class StoredMeta:
    """What travels with a stored result in its object's metadata (about 300 bytes of JSON).

    Attributes:
        type: Content type, as in `offloadkit.content`.
        size: Bytes of its text.
        structure: Bytes of its structure.
        lines: Lines of its text.
        sha256: Hex digest over content type, text and structure; checked by every full read.
        stored_at: Seconds since 1970.
        tokens: Tokens of the content by the counter of the policy that stored it.
        tool: The tool's name as placeholders show it, or None.
        failed: True when the result was marked as failed.
    """

    type: str
    size: int
    structure: int
    lines: int
    sha256: str
    stored_at: float
    tokens: int = 0
    tool: str | None = None
    failed: bool = False

    def to_bytes(self) -> bytes:
        """Return the metadata as JSON."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps({"version": 1, **fields}, separators=(",", ":")).encode()

    @classmethod
    def from_stat(cls, stat: Stat) -> StoredMeta:
        """Read the metadata of an object. Raises `Corrupt` when it is not what `to_bytes` made."""
        try:
            fields = json.loads(stat.meta)
            if fields.pop("version") != 1:
                raise ValueError
            meta = cls(**fields)
            if not 0 <= meta.size + meta.structure <= stat.size:
                raise ValueError
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise Corrupt("the metadata of a stored result cannot be read", key=stat.key) from error
        return meta


@dataclass(frozen=True, slots=True)
class _Known:
    """A result that is known to be stored."""

    meta: StoredMeta
    object_size: int
    expires_at: float | None


class Archive:
    """The stored results of one session over one backend. Safe to use from many threads."""

    def __init__(
        self,
        backend: Backend,
        *,
        session: str,
        namespace: str = "default",
        ttl: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make an archive, without any I/O.

        Args:
            backend: Where the objects are. It is not closed by the archive.
            session: Whose results these are. Any text.
            namespace: The tenant or application that the session belongs to. Any text.
            ttl: Seconds after which a stored result expires, or None for never.
            clock: Returns the seconds since 1970.
        """
        self.backend = backend
        self.session = session
        self.namespace = namespace
        self.ttl = ttl
        self.prefix = f"{key_segment(namespace)}/{key_segment(session)}/"
        self._clock = clock
        self._stored: dict[str, float | None] = {}
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._opened: OrderedDict[str, StoredText] = OrderedDict()
        self._lock = threading.Lock()

    def reference(self, encoded: EncodedContent) -> str:
        """Return the reference of a content in this session. No I/O."""
        return reference_for(self.session, encoded.digest)

    def save(
        self,
        encoded: EncodedContent,
        *,
        tokens: int,
        tool: str | None = None,
        failed: bool = False,
        anew: bool = False,
    ) -> str:
        """Store a content once and return its reference; only then may its text be replaced.

        Args:
            encoded: The content.
            tokens: Tokens that it holds.
            tool: The tool's name as placeholders show it.
            failed: True when the result was marked as failed.
            anew: Ask the store although the content is remembered as stored: for a content that exists
                nowhere else once its text is replaced.

        Raises:
            BackendError: It could not be stored.
        """
        ref = self.reference(encoded)
        if not anew and self.remembers(ref):
            return ref
        index = LineIndex.build(encoded.body)
        now = self._clock()
        meta = StoredMeta(
            type=encoded.type,
            size=len(encoded.body),
            structure=len(encoded.structure),
            lines=index.lines,
            sha256=encoded.digest.hex(),
            stored_at=round(now, 3),
            tokens=tokens,
            tool=tool,
            failed=failed,
        )
        data = b"".join((encoded.body, encoded.structure, _index_text(index)))
        known = _Known(meta, len(data), None if self.ttl is None else now + self.ttl)
        self._remember(ref, self._put(self.prefix + ref, data, known))
        return ref

    def remembers(self, ref: str) -> bool:
        """Say, without any I/O, whether a result is known to be stored for at least half of the ``ttl``."""
        with self._lock:
            if ref not in self._stored:
                return False
            expires_at = self._stored[ref]
        if expires_at is None:
            return True
        return self.ttl is not None and expires_at - self._clock() >= self.ttl / 2

    def remembered(self) -> list[str]:
        """Return, without any I/O, the references that are known to be stored."""
        with self._lock:
            return list(self._stored)

    def remembers_all(self, refs: AbstractSet[str]) -> bool:
        """Say of many references at once what `remembers` says of each."""
        if self.ttl is not None:
            return all(map(self.remembers, refs))
        with self._lock:
            return self._stored.keys() >= refs

    def find(self, ref: str) -> StoredMeta | None:
        """Return the metadata of a stored result, or None when this session has no such reference.

        Raises:
            BackendError: The store could not be asked.
        """
        try:
            return self._look_up(ref).meta
        except (NotFound, Corrupt):
            return None

    def load(self, ref: str) -> Any:
        """Return the whole content, as it was.

        Raises:
            NotFound: This session has no such reference, or it has expired.
            Corrupt: The bytes are not those that were stored.
        """
        meta = self._look_up(ref).meta
        data = self._read(ref, 0, meta.size + meta.structure)
        body, structure = data[: meta.size], data[meta.size :]
        if digest_of(meta.type, body, structure).hex() != meta.sha256:
            self.forget(ref)
            raise Corrupt(f"the stored result {ref} fails its checksum", key=self.prefix + ref)
        return decode(meta.type, body, structure)

    def open(self, ref: str) -> StoredText:
        """Return a stored result for reading it in parts: at most two requests, then one a page.

        Raises:
            NotFound: This session has no such reference, or it has expired.
        """
        known = self._look_up(ref)
        with self._lock:
            opened = self._opened.get(ref)
            if opened is not None:
                self._opened.move_to_end(ref)
                return opened
        meta = known.meta
        opened = StoredText(
            ref=ref,
            tool=meta.tool,
            size=meta.size,
            index=self._load_index(ref, known),
            fetch=lambda start, length: self._read(ref, start, min(length, max(meta.size - start, 0))),
            stored_at=meta.stored_at,
            is_json=True if meta.type == JSON else None,
            failed=meta.failed,
        )
        with self._lock:
            self._opened[ref] = opened
            while len(self._opened) > 32:
                self._opened.popitem(last=False)
        return opened

    def entries(self) -> Iterator[tuple[str, StoredMeta]]:
        """Yield the reference and the metadata of each stored result of this session that has not expired."""
        for stat in objects(self.backend, self.prefix):
            ref = stat.key.removeprefix(self.prefix)
            meta = self._meta_of(ref, stat) if is_reference(ref) else None
            if meta is not None:
                yield ref, meta

    def delete(self, refs: list[str]) -> None:
        """Delete stored results; one that is not there is no error."""
        for ref in refs:
            self.forget(ref)
        self.backend.delete([self.prefix + ref for ref in refs])

    def forget(self, ref: str) -> None:
        """Drop what is remembered of a reference, so that the store is asked again."""
        with self._lock:
            self._stored.pop(ref, None)
            self._known.pop(ref, None)
            self._opened.pop(ref, None)

    def _put(self, key: str, data: bytes, known: _Known) -> _Known:
        try:
            self.backend.put(key, data, meta=known.meta.to_bytes(), expires_at=known.expires_at)
        except AlreadyExists:
            return self._keep_existing(key, data, known)
        return known

    def _keep_existing(self, key: str, data: bytes, known: _Known) -> _Known:
        """The key names the content, so the same content is there: see that it is, and lives long enough."""
        try:
            stat = self.backend.stat(key)
            meta = StoredMeta.from_stat(stat)
            intact = meta.sha256 == known.meta.sha256 and self.backend.read(key) == data
        except (NotFound, Corrupt):
            return self._replace(key, data, known)
        if not intact:
            return self._replace(key, data, known)
        if stat.expires_at is None or (known.expires_at is not None and stat.expires_at >= known.expires_at):
            return _Known(meta, stat.size, stat.expires_at)
        if stat.expires_at > self._clock() and isinstance(self.backend, SupportsSetExpiry):
            self.backend.set_expiry(key, known.expires_at)
            return _Known(meta, stat.size, known.expires_at)
        return self._replace(key, data, known)

    def _replace(self, key: str, data: bytes, known: _Known) -> _Known:
        self.backend.delete([key])
        try:
            self.backend.put(key, data, meta=known.meta.to_bytes(), expires_at=known.expires_at)
        except AlreadyExists:
            stat = self.backend.stat(key)
            return _Known(StoredMeta.from_stat(stat), stat.size, stat.expires_at)
        return known

    def _look_up(self, ref: str) -> _Known:
        if not is_reference(ref):
            raise NotFound("no such reference in this session")
        with self._lock:
            known = self._known.get(ref)
            if known is not None:
                self._known.move_to_end(ref)
        if known is None:
            stat = self.backend.stat(self.prefix + ref)
            known = _Known(StoredMeta.from_stat(stat), stat.size, stat.expires_at)
            self._remember(ref, known)
        if known.expires_at is not None and known.expires_at <= self._clock():
            raise NotFound("the stored result has expired", key=self.prefix + ref)
        return known

    def _meta_of(self, ref: str, stat: Stat) -> StoredMeta | None:
        """Return the metadata of a listed object; a store that does not list it is asked once more."""
        if not stat.meta:
            return self.find(ref)
        if stat.expires_at is not None and stat.expires_at <= self._clock():
            return None
        try:
            return StoredMeta.from_stat(stat)
        except Corrupt:
            return None

    def _remember(self, ref: str, known: _Known) -> None:
        with self._lock:
            self._stored[ref] = known.expires_at
            self._known[ref] = known
            self._known.move_to_end(ref)
            while len(self._known) > REMEMBERED_RESULTS:
                self._known.popitem(last=False)

    def _read(self, ref: str, start: int, length: int) -> bytes:
        try:
            return self.backend.read(self.prefix + ref, start, length)
        except NotFound:
            self.forget(ref)
            raise

    def _load_index(self, ref: str, known: _Known) -> LineIndex:
        meta = known.meta
        if meta.size > _WHOLE_READ_BYTES:
            start = meta.size + meta.structure
            try:
                text = self._read(ref, start, known.object_size - start)
                index = LineIndex.from_bytes(base64.b64decode(text, validate=True))
                if index.size == meta.size:
                    return index
            except ValueError:
                _log.warning("the line index of the stored result %s is damaged; it is made again", ref)
        return LineIndex.build(self._read(ref, 0, meta.size))


def _index_text(index: LineIndex) -> bytes:
    """Return the index as it is stored: nothing for a text that is read whole when it is opened."""
    return base64.b64encode(index.to_bytes()) if index.size > _WHOLE_READ_BYTES else b""
