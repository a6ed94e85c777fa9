"""The annotations of the package, as mypy --strict reads them in a program that uses the installed package."""

import subprocess
import sys
from pathlib import Path

import pytest

import emogi

EXAMPLE = Path(__file__).with_name("typed_example.py")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A folder for what mypy has read of numpy and psycopg, for all tests here."""
    return tmp_path_factory.mktemp("mypy")


def mypy(program, cache):
    """Check a program as strictly as mypy can; the package is the installed one."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-color-output", f"--cache-dir={cache}", str(program)]
    checked = subprocess.run(command, capture_output=True, text=True, cwd=cache, timeout=300)
    return checked.returncode, checked.stdout + checked.stderr


def test_example_is_typed(cache):
    assert mypy(EXAMPLE, cache) == (0, "")


def test_wrong_arguments_are_found(tmp_path, cache):
    """Without py.typed everything would be Any, and nothing would be wrong."""
    program = tmp_path / "wrong.py"
    program.write_text(
        "import emogi\n"
        "with emogi.connect() as db:\n"
        "    follows = db.graph('follows')\n"
        "    follows.bfs(1, max_depth='3')\n"
        "    follows.bfs()\n"
        "    follows.pagerank(damping=0.9).polar()\n"
        "    follows.breadth_first(1)\n"
        "    follows.bfs(1, direction='up')\n"
        "    follows.bfs(1.5)\n"
        "    db.graph('follows', keys='int')\n"
    )
    status, said = mypy(program, cache)
    assert status == 1
    assert [line.split(":")[1] for line in said.splitlines() if ": error: " in line] == ["4", "5", "7", "8", "9", "10"], said


def test_example_runs(db):
    ran = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == (f"{emogi.__version__} [(1, 0), (2, 1), (3, 1), (4, 2), (5, 3), (6, 1)]\n", "")
