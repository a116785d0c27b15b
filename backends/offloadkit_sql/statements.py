"""The statements, written once for all databases and compiled to each driver's style of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sqlalchemy import Dialect as SQLAlchemyDialect
from sqlalchemy import text

from offloadkit_sql.chunks import CHUNK_BYTES, WINDOW_CHUNKS

__all__ = ["Statements"]

_INSERT = """
    INSERT INTO {table} (object_key, chunk_number, object_size, created_at, expires_at, meta, data)
    VALUES (:key, :number, :size, :created_at, :expires_at, :meta, :data)
"""
_READ_START = """
    SELECT object_size, data FROM {table}
    WHERE object_key = :key AND chunk_number < {window_chunks} ORDER BY chunk_number
"""
_READ_SLICE = """
    SELECT object_size, {slice} FROM {table} WHERE object_key = :key AND chunk_number = :first
"""
_READ_CHUNKS = """
    SELECT object_size, substr(
        data,
        CASE chunk_number WHEN :first THEN :head ELSE 1 END,
        CASE chunk_number WHEN :last THEN :tail ELSE {chunk_bytes} END
    )
    FROM {table}
    WHERE object_key = :key AND chunk_number BETWEEN :first AND :last ORDER BY chunk_number
"""
_ROW_NUMBER = "SELECT rowid, object_size FROM {table} WHERE object_key = :key AND chunk_number = :first"
_SIZE = "SELECT object_size FROM {table} WHERE object_key = :key AND chunk_number = 0"
_STAT = """
    SELECT object_key, object_size, meta, expires_at, created_at FROM {table}
    WHERE object_key = :key AND chunk_number = 0
"""
_LIST = """
    SELECT object_key, object_size, meta, expires_at, created_at FROM {table}
    WHERE object_key > :after AND object_key >= :prefix AND object_key < :beyond AND chunk_number = 0
    ORDER BY object_key LIMIT :limit
"""
_SET_EXPIRY = "UPDATE {table} SET expires_at = :expires_at WHERE object_key = :key AND chunk_number = 0"
_EXPIRED = """
    SELECT object_key FROM {table} WHERE expires_at < :now ORDER BY expires_at LIMIT :limit {lock}
"""
_DELETE = "DELETE FROM {table} WHERE object_key IN ({keys})"


class Statements:
    """Every statement over one table, as text that one driver takes.

    Attributes:
        table: The table's name.
        insert: One row; parameters as `chunks.rows_of` makes them.
        read_start: ``key``. The first window, whole.
        read_slice: ``key`` and what `chunks.window` returns for a part of one row.
        read_chunks: ``key`` and what `chunks.window` returns for several rows.
        row_number: SQLite's number of a row, and the size; ``key`` and ``first``.
        size: ``key``. No row where there is no such object.
        stat: ``key``.
        list: ``after``, ``prefix``, ``beyond`` (the first text past the prefix) and ``limit``.
        set_expiry: ``key`` and ``expires_at``.
        expired: ``now`` and ``limit``; locks what it finds where the database can.
    """

    def __init__(self, table: str, dialect: SQLAlchemyDialect, *, lock: str, slice_: str) -> None:
        def compiled(statement: str) -> str:
            filled = statement.format(
                table=table, lock=lock, slice=slice_, window_chunks=WINDOW_CHUNKS, chunk_bytes=CHUNK_BYTES
            )
            return str(text(" ".join(filled.split())).compile(dialect=dialect))

        def delete(count: int) -> str:
            names = ", ".join(f":key{number}" for number in range(count))
            return compiled(_DELETE.replace("{keys}", names))

        self.table = table
        self.insert = compiled(_INSERT)
        self.read_start = compiled(_READ_START)
        self.read_slice = compiled(_READ_SLICE)
        self.read_chunks = compiled(_READ_CHUNKS)
        self.row_number = compiled(_ROW_NUMBER)
        self.size = compiled(_SIZE)
        self.stat = compiled(_STAT)
        self.list = compiled(_LIST)
        self.set_expiry = compiled(_SET_EXPIRY)
        self.expired = compiled(_EXPIRED)
        self._delete = cache(delete)

    def delete(self, keys: Sequence[str]) -> tuple[str, dict[str, str]]:
        """Return the statement that deletes every row of ``keys``, and its parameters."""
        return self._delete(len(keys)), {f"key{number}": key for number, key in enumerate(keys)}
