"""File systems of fsspec for tests."""

from __future__ import annotations

from typing import Any, ClassVar

from fsspec.implementations.memory import MemoryFileSystem

from offloadkit.url import parse_url
from offloadkit_fsspec import FsspecBackend


def open_fsspec(url: str) -> FsspecBackend:
    """Open a config URL without the registry."""
    return FsspecBackend.from_url(parse_url(url).with_options(FsspecBackend.options))


class TroubledFiles(MemoryFileSystem):  # type: ignore[misc]
    """Memory whose next calls raise what is put into ``troubles``."""

    protocol = "troubled"
    troubles: ClassVar[list[Exception]] = []

    def cat_file(self, path: str, **kwargs: Any) -> Any:
        self._be_troubled()
        return super().cat_file(path, **kwargs)

    def pipe_file(self, path: str, value: bytes, **kwargs: Any) -> None:
        self._be_troubled()
        super().pipe_file(path, value, **kwargs)

    def info(self, path: str, **kwargs: Any) -> Any:
        self._be_troubled()
        return super().info(path, **kwargs)

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
        self._be_troubled()
        return super().ls(path, detail=detail, **kwargs)

    def rm_file(self, path: str) -> None:
        self._be_troubled()
        super().rm_file(path)

    def _be_troubled(self) -> None:
        if self.troubles:
            raise self.troubles.pop(0)
