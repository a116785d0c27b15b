"""Who may import whom: the architecture, as a table. Changing it means changing this file, in view."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "offloadkit"

# The modules of offloadkit that each module may import; a package stands for all that is in it.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "results": set(),
    "url": {"errors"},
    "backend": {"errors", "url"},
    "breaker": set(),
    "loop_thread": {"errors"},
    "references": set(),
    "events": set(),
    "statistics": {"events"},
    "content": {"errors", "results"},
    "tokens": {"errors", "results"},
    "placeholder": set(),
    "policy": {"errors", "placeholder", "results", "tokens"},
    "replay": {"policy", "results", "tokens"},
    "imprint": set(),
    "usage": {"policy", "tokens"},
    "lines": set(),
    "reading": {"errors", "lines", "policy", "read_call", "tokens"},
    "read_call": set(),
    "read_tool": {"errors", "read_call", "reading"},
    "previews": {"errors", "tokens"},
    "formats": {"errors", "results"},
    "registry": {"backend", "errors", "url"},
    "retention": {"backend"},
    "archive": {"backend", "content", "errors", "lines", "reading", "references", "retention"},
    "tool_inputs": {"content", "guard", "history", "placeholder", "references", "results", "tokens"},
    "guard": {"archive", "breaker", "content", "errors", "events", "placeholder"},
    "history": {"content", "formats", "placeholder", "policy", "results", "tokens"},
    "replacement": {
        *("archive", "content", "formats", "history", "placeholder", "policy"),
        *("previews", "read_call", "read_tool", "results", "tokens"),
    },
    "progress": {"formats", "history", "imprint", "policy", "replacement", "replay", "results"},
    "departure": {
        *("announcements", "guard", "history", "placeholder", "policy", "reader", "reading"),
        *("replacement", "results"),
    },
    "reducer": {
        *("departure", "formats", "guard", "history", "policy", "progress", "replacement", "replay"),
        *("results", "tokens", "tool_inputs"),
    },
    "announcements": {"events", "history", "placeholder", "statistics", "tokens"},
    "restoring": {"archive", "errors", "events", "formats", "placeholder", "results", "tool_inputs"},
    "reader": {
        "archive",
        "errors",
        "events",
        "guard",
        "policy",
        "read_call",
        "reading",
        "references",
        "tokens",
    },
    "offloader": {
        *(
            "announcements",
            "departure",
            "reducer",
            "archive",
            "backend",
            "breaker",
            "content",
            "errors",
            "events",
            "formats",
            "guard",
        ),
        *("history", "placeholder", "policy", "previews", "read_tool", "reader", "reading", "registry"),
        *("replacement", "restoring", "results", "statistics", "tokens", "tool_inputs", "usage"),
    },
    "__init__": {"backend", "errors", "offloader", "policy", "registry"},
    "__main__": {"cli"},
}
BACKENDS_MAY_IMPORT = {"backend", "errors", "loop_thread", "url"}
OUTER = {"cli", "testing", "integrations"}


def imports_of(path: Path) -> set[str]:
    """Return the names of our modules that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [node.module] if node.module != "offloadkit" else [f"offloadkit.{a.name}" for a in node.names]
            )
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("offloadkit.")}
    return found


def modules() -> dict[str, set[str]]:
    """Return what each module of the core imports; a package counts as one module."""
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).with_suffix("").parts[0]
        found[name] = (found.get(name, set()) | imports_of(path)) - {name}
    return {name: names for name, names in found.items() if name not in OUTER}


@pytest.mark.parametrize("name", sorted(modules()))
def test_a_module_imports_only_what_the_architecture_allows(name: str) -> None:
    assert name in ALLOWED, f"say in ALLOWED what {name} may import"
    assert modules()[name] <= ALLOWED[name]


def test_the_table_names_no_module_that_is_gone() -> None:
    assert set(ALLOWED) <= set(modules())


@pytest.mark.parametrize("path", sorted((ROOT / "backends").rglob("*.py")), ids=lambda path: path.parent.name)
def test_a_backend_uses_only_the_door_that_strangers_use(path: Path) -> None:
    assert imports_of(path) <= BACKENDS_MAY_IMPORT


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.stem)
def test_the_core_never_imports_a_backend(path: Path) -> None:
    text = path.read_text("utf-8")

    assert not [
        line
        for line in text.split("\n")
        if line.strip().startswith(("import offloadkit_", "from offloadkit_"))
    ]


def test_importing_offloadkit_loads_no_driver_no_sdk_and_no_command_line() -> None:
    heavy = [
        "click",
        "rich",
        "redis",
        "sqlalchemy",
        "fsspec",
        "boto3",
        "openai",
        "anthropic",
        "tiktoken",
        "pytest",
    ]
    heavy += [
        "hypothesis",
        "anyio",
        "re2",
        "jmespath",
        "importlib.metadata",
        "platformdirs",
        "pygments",
        "asyncio",
    ]
    code = f"import sys, offloadkit; print([name for name in {heavy} if name in sys.modules])"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"
