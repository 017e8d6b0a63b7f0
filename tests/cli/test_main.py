"""The entry point."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import omit
from tests.conftest import Run


def test_the_help_names_every_command(omit_command: Callable[[str], Run]) -> None:
    shown = omit_command("--help").out
    assert all(command in shown for command in ("bound", "calibrate", "verify", "figure"))


def test_the_version_is_that_of_the_package(omit_command: Callable[[str], Run]) -> None:
    assert omit_command("--version").out.strip() == f"omit {omit.__version__}"


def test_the_help_does_not_load_what_computes() -> None:
    code = (
        "import sys\n"
        "from omit.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'matplotlib', 'dp_accounting'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_runs_as_a_module() -> None:
    words = [
        sys.executable,
        "-m",
        "omit",
        "calibrate",
        "poisson",
        "--rate",
        "0.1",
        "--epsilon",
        "1",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "2.9004770978" in done.stdout
