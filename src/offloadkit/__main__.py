"""``python -m offloadkit``."""

from offloadkit.cli import main

main()
