"""A stranger's backend: built, installed beside ours, chosen by its URL, and held to the contract."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "offloadkit-lmdb"
PAGE = ROOT / "docs" / "how-to" / "write-a-backend.md"
FILES = ("pyproject.toml", "src/offloadkit_lmdb/__init__.py", "tests/test_contract.py")


def run(*command: str | Path, cwd: Path) -> str:
    """Run a program as someone who has none of our settings; return what it printed."""
    environment = {
        name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "OFFLOADKIT"))
    }
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment in which our wheel and the example's are installed, and nothing else of ours."""
    folder = tmp_path_factory.mktemp("stranger")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    for project in (ROOT, EXAMPLE):
        run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "wheels", project, cwd=folder)
    ours, example = sorted((folder / "wheels").glob("*.whl"), key=lambda path: "lmdb" in path.name)
    run(*pip, "--python", python, "install", "--quiet", f"{ours}[testing]", example, cwd=folder)
    return folder


@pytest.mark.slow
def test_it_is_listed_and_chosen_by_its_url(stranger: Path) -> None:
    offloadkit = stranger / "venv" / "bin" / "offloadkit"
    assert re.search(r"lmdb.*offloadkit-lmdb", run(offloadkit, "backends", cwd=stranger))
    assert "put" in run(offloadkit, "backends", "check", f"lmdb://{stranger}/results.lmdb", cwd=stranger)


@pytest.mark.slow
def test_it_keeps_the_contract_where_it_is_installed(stranger: Path) -> None:
    python = stranger / "venv" / "bin" / "python"
    printed = run(python, "-m", "pytest", "-q", EXAMPLE / "tests", "-p", "no:cacheprovider", cwd=stranger)
    assert re.search(r"\d{2,} passed", printed)


@pytest.mark.slow
def test_an_offloader_takes_it_like_one_of_ours(stranger: Path) -> None:
    program = (
        "from offloadkit import Offloader\n"
        f"with Offloader('lmdb://{stranger}/agent.lmdb', session='run-42') as offloader:\n"
        "    shown = offloader.offload('a line of a log\\n' * 20_000, tool='read_log')\n"
        "print(len(shown))\n"
    )
    assert 0 < int(run(stranger / "venv" / "bin" / "python", "-c", program, cwd=stranger)) < 5_000


@pytest.mark.parametrize("name", FILES)
def test_the_page_shows_the_files_as_they_are(name: str) -> None:
    assert f"\n{(EXAMPLE / name).read_text('utf-8')}```" in PAGE.read_text("utf-8")
