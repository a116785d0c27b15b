"""The parts of ``benchmarks/backends.py``: who is timed, how, and what is printed of it."""
