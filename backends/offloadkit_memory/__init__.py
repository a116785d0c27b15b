"""The memory backend."""
