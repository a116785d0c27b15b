"""Everything a contributor runs, and all that CI runs: ``nox`` alone does lint, types, tests and docs."""

from __future__ import annotations

import nox

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["lint", "types", "tests", "docs"]
nox.options.reuse_venv = "yes"

PROJECT = nox.project.load_toml("pyproject.toml")


def install(session: nox.Session, *groups: str) -> None:
    """Install the project with every driver, and the tools of the named dependency groups."""
    tools = nox.project.dependency_groups(PROJECT, *groups)
    session.install("--quiet", "-e", ".[all]", *[tool for tool in tools if not tool.startswith("offloadkit")])


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests on two cores; what needs a server is skipped with the reason where none answers.

    ``nox -s tests -- -m "not slow"`` leaves out what takes minutes: wrong backends, S3, faults of servers.
    """
    install(session, "tests")
    session.run("pytest", "-n", "2", "--dist", "loadfile", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check form and spelling."""
    install(session, "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("codespell", "src", "backends", "tests", "docs", "README.md", "CHANGELOG.md")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly."""
    install(session, "tests", "types")
    session.run("mypy")


@nox.session
def docs(session: nox.Session) -> None:
    """Run every code block of the documentation, and check that nothing public is missing from it."""
    install(session, "tests")
    session.run("pytest", "tests/test_docs.py", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Print the figures that the documentation quotes, each measured side by side in one run."""
    install(session, "tests", "bench")
    for script in session.posargs or ["policies", "token_accuracy", "needle", "backends"]:
        session.run("python", f"benchmarks/{script}.py")
