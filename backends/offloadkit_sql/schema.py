"""The one table: how it is made, and how a table that is already there is compared with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import (
    DDL,
    BigInteger,
    Column,
    Connection,
    Dialect,
    Double,
    Index,
    Inspector,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    event,
    inspect,
)
from sqlalchemy import __version__ as SQLALCHEMY_VERSION  # noqa: N812  it is a constant
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeEngine

from offloadkit.backend import MAX_KEY_CHARACTERS, MAX_META_BYTES
from offloadkit.errors import ConfigError

__all__ = ["ensure_table", "objects_table"]

_TABLE_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,49}")
_COLLATION: Final = re.compile(r' COLLATE "\w+"')
_DISPLAY_WIDTH: Final = re.compile(r"\b(INTEGER|BIGINT)\([0-9]+\)")


def objects_table(name: str) -> Table:
    """Describe the table: a row for each 256 KiB of an object, the first one with what describes it.

    Keys compare by byte everywhere, so that a prefix is a range of the primary key. The data stand last:
    SQLite then reads the other columns without walking the pages of a large value.

    Raises:
        ConfigError: ``name`` is no identifier that every database takes without quotes.
    """
    if not _TABLE_NAME.fullmatch(name):
        raise ConfigError(
            f"the option 'table' takes 1 to 50 characters of [a-z0-9_], the first no digit, not {name!r}"
        )
    table = Table(
        name,
        MetaData(),
        Column("object_key", _key_type(), primary_key=True),
        Column("chunk_number", Integer, primary_key=True, autoincrement=False),
        Column("object_size", BigInteger, nullable=False),
        Column("created_at", Double, nullable=False),
        Column("expires_at", Double),
        Column("meta", LargeBinary().with_variant(mysql.VARBINARY(MAX_META_BYTES), "mysql")),
        Column("data", LargeBinary().with_variant(mysql.MEDIUMBLOB(), "mysql"), nullable=False),
        mysql_engine="InnoDB",
        mysql_row_format="DYNAMIC",
    )
    expiring = table.c.expires_at.is_not(None)
    Index(f"{name}_expires", table.c.expires_at, sqlite_where=expiring, postgresql_where=expiring)
    # A compressed value has to be unpacked whole before a part of it can be cut out.
    external = DDL("ALTER TABLE %(table)s ALTER COLUMN data SET STORAGE EXTERNAL")  # type: ignore[no-untyped-call]
    event.listen(table, "after_create", external.execute_if(dialect="postgresql"))
    return table


def ensure_table(connection: Connection, table: Table, begin: str) -> list[str]:
    """Make the table unless it is there, and say in what the one that is there differs.

    Of several processes that do this at once some may fail on what another one has just made; they find
    it when they try again.
    """
    if not inspect(connection).has_table(table.name):
        connection.exec_driver_sql(begin)
        table.create(connection)
        connection.commit()
    inspector = inspect(connection)
    found = list(_differences(inspector, table, connection.dialect))
    if not found:
        _make_missing_indexes(connection, inspector, table)
    connection.commit()
    return found


def _make_missing_indexes(connection: Connection, inspector: Inspector, table: Table) -> None:
    names = {index["name"] for index in inspector.get_indexes(table.name)}
    for index in table.indexes:
        if index.name not in names:
            index.create(connection)


def _differences(inspector: Inspector, table: Table, dialect: Dialect) -> Iterator[str]:
    found = {column["name"]: column["type"] for column in inspector.get_columns(table.name)}
    yield from _column_differences(table, found, dialect)
    key = inspector.get_pk_constraint(table.name)["constrained_columns"]
    wanted = [column.name for column in table.primary_key]
    if key != wanted:
        yield f"the primary key is ({', '.join(key)}), not ({', '.join(wanted)})"
    if dialect.name == "mysql":
        storage = inspector.get_table_options(table.name).get("mysql_engine")
        if storage != "InnoDB":
            yield f"the storage engine is {storage}, not InnoDB"


def _column_differences(table: Table, found: dict[str, TypeEngine[Any]], dialect: Dialect) -> Iterator[str]:
    for column in table.columns:
        if column.name not in found:
            yield f"column {column.name} is missing"
            continue
        wanted, there = (_type_text(kind, dialect) for kind in (column.type, found[column.name]))
        if wanted != there:
            yield f"column {column.name} is {there}, not {wanted}"
    for name in found.keys() - {column.name for column in table.columns}:
        yield f"column {name} is unknown"


def _type_text(column_type: TypeEngine[Any], dialect: Dialect) -> str:
    text = _DISPLAY_WIDTH.sub(r"\1", column_type.compile(dialect=dialect))
    # SQLAlchemy 2.0 does not see the collations of PostgreSQL.
    return _COLLATION.sub("", text) if SQLALCHEMY_VERSION.startswith("2.0.") else text


def _key_type() -> TypeEngine[str]:
    size = MAX_KEY_CHARACTERS
    return (
        String(size)
        .with_variant(String(size, collation="C"), "postgresql")
        .with_variant(mysql.VARCHAR(size, charset="ascii", collation="ascii_bin"), "mysql")
    )
