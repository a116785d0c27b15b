"""Backends that are wrong on purpose, to test the contract: each breaks one promise.

Write a class that derives from `Mutant`, anywhere in this package, and name the tests that have to catch it;
it is collected by itself. When a real backend was wrong in a way that the contract let pass, its fault
belongs here.
"""

from __future__ import annotations

import importlib
import pkgutil

from testing.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]


def _all_below(parent: type[Mutant]) -> list[type[Mutant]]:
    children = parent.__subclasses__()
    return [*children, *(below for child in children for below in _all_below(child))]


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

MUTANTS = [mutant for mutant in _all_below(Mutant) if mutant.caught_by]
