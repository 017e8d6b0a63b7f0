"""Run the command line as `python -m omit`."""

from omit.cli.main import main

main()
