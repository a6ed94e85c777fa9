"""networkx's own tests of the functions that the backend has, with their graphs turned into those of the backend."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from emogi.networkx.info import FUNCTIONS

MODULES = [
    "tests.test_core", "tests.test_cluster", "tests.test_dag", "tests.test_bridges", "centrality.tests.test_betweenness_centrality",
    "centrality.tests.test_closeness_centrality", "centrality.tests.test_harmonic_centrality", "components", "shortest_paths",
    "link_analysis.tests.test_pagerank", "traversal.tests.test_bfs", "flow.tests.test_maxflow",
]
# Names of tests that ask for more than networkx promises, each with the reason. There are none.
NOT_ASKED: dict[str, str] = {}
# Functions that networkx's tests call only in a way that the backend leaves to networkx.
ALWAYS_LEFT = {"minimum_cut_value"}  # with a flow_func


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Run them once. Functions that the backend has not are networkx's."""
    folder = tmp_path_factory.mktemp("networkx")
    environment = {**os.environ, "NETWORKX_TEST_BACKEND": "emogi", "NETWORKX_FALLBACK_TO_NX": "True", "EMOGI_CALLS": str(folder / "calls"),
                   "PYTHONPATH": str(Path(__file__).parent)}
    modules = [f"networkx.algorithms.{module}" for module in MODULES]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "count_calls", "-rfE", "--tb=short", "--pyargs", *modules,
         *(part for name in NOT_ASKED for part in ("--deselect", name))],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    # For test/run, which counts them with its own.
    if "EMOGI_FIGURES" in os.environ:
        counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout.strip().splitlines()[-1])}
        Path(os.environ["EMOGI_FIGURES"]).write_text(f"{counts.get('passed', 0)} {counts.get('failed', 0) + counts.get('error', 0)}\n")
    return done, json.loads((folder / "calls").read_text()) if (folder / "calls").exists() else {}


def test_they_pass(outcome):
    done, _ = outcome
    last = done.stdout.strip().splitlines()[-1]
    print(last)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", last)[1]) > 300
    assert "xfailed" not in last


def test_each_function_was_asked(outcome):
    """A test that passes on networkx's own code says nothing of the backend."""
    _, calls = outcome
    assert [name for name in FUNCTIONS if not calls.get(name) and name not in ALWAYS_LEFT] == []
