"""Every code block of the documentation runs, and nothing public is missing from it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import offloadkit
from offloadkit.cli import COMMANDS
from offloadkit.policy import Policy, ToolRule
from offloadkit.previews import KINDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)( [^\n]*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"\n\n((?:    [^\n]*\n|\n)+)")


def python_blocks(path: Path) -> list[tuple[str, str]]:
    """Return each Python block of a page, with the indented output that follows it, or ""."""
    text = path.read_text("utf-8")
    found = []
    for match in BLOCK.finditer(text):
        if match[1] == "python" and "no-run" not in (match[2] or ""):
            output = OUTPUT.match(text, match.end())
            found.append(
                (match[3], re.sub(r"^    ", "", output[1], flags=re.MULTILINE).strip() if output else "")
            )
    return found


RUNNABLE = [path for path in PAGES if python_blocks(path)]


def expect(path: Path) -> tuple[str, list[str]]:
    """Return the program that a page adds up to, and what it should print, block by block."""
    blocks = python_blocks(path)
    return "\n".join(code for code, _ in blocks), [output for _, output in blocks if output]


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.name)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(path: Path, tmp_path: Path) -> None:
    program, outputs = expect(path)

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    for output in outputs:
        assert output in done.stdout


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_somewhere(path: Path) -> None:
    prose = BLOCK.sub("", path.read_text("utf-8"))
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", prose)

    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("name", [f.name for cls in (Policy, ToolRule) for f in fields(cls)])
def test_every_field_of_a_policy_is_in_its_reference(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs/reference/policy.md").read_text("utf-8")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_preview_is_in_the_reference(kind: str) -> None:
    assert f"`{kind}`" in (ROOT / "docs/reference/policy.md").read_text("utf-8")


def test_the_defaults_in_the_reference_are_those_of_the_code() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| `([^|]+)` \|", (ROOT / "docs/reference/policy.md").read_text("utf-8"), re.MULTILINE
    )
    stated = {name: ast.literal_eval(default) for name, default in rows}

    assert stated == {f.name: getattr(Policy(), f.name) for f in fields(Policy)}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_reference(command: str) -> None:
    assert f"## offloadkit {command}\n" in (ROOT / "docs/reference/command-line.md").read_text("utf-8")


@pytest.mark.parametrize("name", offloadkit.__all__)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs/reference/api.md").read_text("utf-8")


def public_definitions() -> list[str]:
    """Return every public class, function and method of the package that has no docstring."""
    missing = []
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "backends").rglob("*.py")]:
        module = ast.parse(path.read_text("utf-8"))
        if ast.get_docstring(module) is None:
            missing.append(str(path))
        missing += [
            f"{path.name}:{node.lineno} {node.name}"
            for node in _public(module)
            if not ast.get_docstring(node)
        ]
    return missing


def _public(parent: ast.Module | ast.ClassDef) -> list[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    found: list[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef] = []
    for node in parent.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found += [node, *_public(node)]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(
            ("_", "test_")
        ):
            found.append(node)
    return found


def test_every_public_definition_says_what_it_is() -> None:
    assert public_definitions() == []
