"""Objects in a table of SQLite, PostgreSQL, MariaDB or MySQL, through SQLAlchemy.

SQLAlchemy makes the connections, makes and checks the table, and compiles the statements. Those of every
day then go straight to the driver: a Core execution and a pooled checkout cost more than SQLite needs for
a whole read. Each kind of database is one module, so that a driver is imported only for its own scheme.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offloadkit_sql.mysql import MySQLBackend
    from offloadkit_sql.postgresql import PostgreSQLBackend
    from offloadkit_sql.sqlite import SQLiteBackend

__all__ = ["MySQLBackend", "PostgreSQLBackend", "SQLiteBackend"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{name.removesuffix('Backend').lower()}")
    return getattr(module, name)
