"""What is in the checkout is in the distribution, and each backend has its entry point."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path

import pytest

import offloadkit

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
BACKENDS = sorted(
    path.name for path in (ROOT / "backends").iterdir() if path.is_dir() and path.name != "__pycache__"
)


@pytest.mark.parametrize("package", BACKENDS)
def test_each_backend_is_in_the_wheel(package: str) -> None:
    assert f"backends/{package}" in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


@pytest.mark.parametrize("package", BACKENDS)
def test_each_backend_has_an_entry_point_and_is_typed(package: str) -> None:
    entry_points = PROJECT["project"]["entry-points"]["offloadkit.backends"]

    assert any(value.startswith(f"{package}:") for value in entry_points.values())
    assert (ROOT / "backends" / package / "py.typed").exists()


@pytest.mark.parametrize("package", BACKENDS)
def test_each_backend_is_measured_for_coverage(package: str) -> None:
    assert package in PROJECT["tool"]["coverage"]["run"]["source_pkgs"]


def test_the_extra_all_holds_every_other_extra() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    named = extras["all"][0].removeprefix("offloadkit[").removesuffix("]").split(",")

    assert sorted(named) == sorted(set(extras) - {"all"})


def test_the_public_names_are_sorted_and_there() -> None:
    assert offloadkit.__all__ == sorted(offloadkit.__all__)
    assert all(hasattr(offloadkit, name) for name in offloadkit.__all__)


def test_the_installed_version_is_that_of_the_project() -> None:
    assert importlib.metadata.version("offloadkit") == PROJECT["project"]["version"]


def test_every_test_module_has_a_name_of_its_own() -> None:
    names = sorted(path.name for path in (ROOT / "tests").rglob("test_*.py"))

    assert len(names) == len(set(names))
