"""Conformance suites for backends and formats."""
