"""The backend of networkx: each function against networkx itself on graphs of all shapes, what is refused, and where tables go."""

import gc
import inspect
import math
import os
import random
import subprocess
import sys
from fractions import Fraction

import networkx as nx
import psycopg
import pytest

from emogi.networkx import algorithms
from emogi.networkx.info import FUNCTIONS
from emogi.networkx.interface import backend
from emogi.networkx.store import STORE, EmogiGraph


@pytest.fixture(autouse=True)
def quiet():
    """networkx warns when it takes a converted graph that it has kept."""
    nx.config.warnings_to_ignore.add("cache")


def weighted(graph, seed, values=None):
    chance = random.Random(seed)
    for *_, data in graph.edges(data=True):
        data["weight"] = chance.choice(values) if values else chance.random() * 10
    return graph


def shapes(directed):
    """Graphs of all shapes, with nodes of several types."""
    kind, multi = (nx.DiGraph, nx.MultiDiGraph) if directed else (nx.Graph, nx.MultiGraph)
    yield "random", weighted(nx.relabel_nodes(nx.gnm_random_graph(40, 70, seed=1, directed=directed), {i: f"n{i}" for i in range(0, 40, 2)}), 1)
    yield "dense", weighted(nx.gnm_random_graph(25, 120, seed=2, directed=directed), 2, [0, 1, 2, 3])
    yield "tuples", weighted(nx.grid_2d_graph(5, 5, create_using=kind), 3, [1, 2.5])
    yield "loops", weighted(kind([(1, 1), (1, 2), (2, 3), (3, 1), (3, 3), (4, 4)]), 4)
    yield "parallel", weighted(multi([("a", "b"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "c"), ("d", "e")]), 5, [2, 3, 5])
    alone = kind()
    alone.add_nodes_from(["x", None.__class__, 3.5, frozenset({1})])
    yield "no edge", alone
    path = nx.path_graph(30, create_using=kind)
    path.add_nodes_from([100, 101])
    yield "path", weighted(path, 6, [0])
    yield "one edge", kind([("a", "b")])


GRAPHS = [pytest.param(graph, id=f"{name}, {'directed' if directed else 'undirected'}") for directed in (False, True) for name, graph in shapes(directed)]


def arguments(name, graph):
    """Get the arguments of a call, several where the function has more to choose."""
    nodes = list(graph)
    first, last, middle = nodes[0], nodes[-1], nodes[len(nodes) // 2]
    single = [{"source": first}, {"source": middle, "cutoff": 2}, {"source": last, "cutoff": 0}]
    pairs = [{"source": first, "target": last}, {"source": middle, "target": first}, {"source": first, "target": first}]
    # An edge without a capacity has an infinite one, which the backend leaves to networkx.
    flows = [{"_s": pair["source"], "_t": pair["target"], "capacity": "weight"} for pair in pairs] if all("weight" in data for *_, data in graph.edges(data=True)) else []
    return {
        "all_pairs_shortest_path_length": [{}, {"cutoff": 2}],
        "all_simple_paths": [*({**pair, "cutoff": 4} for pair in pairs), {**pairs[0], "cutoff": 0}, {**pairs[2], "cutoff": 0}, {**pairs[1], "cutoff": 1.5},
                             {**pairs[0], "cutoff": -1}, {"source": first, "target": [last, middle, "nowhere"], "cutoff": 3},
                             {"source": first, "target": {first, last}, "cutoff": 2}, {"source": "nowhere", "target": last}, {"source": first, "target": 7.25}],
        "ancestors": [{"source": middle}],
        "descendants": [{"source": middle}],
        "average_clustering": [{}, {"nodes": nodes[:3]}],
        "betweenness_centrality": [{}, {"normalized": False}],
        "bfs_layers": [{"sources": first}, {"sources": [first, middle]}],
        "bidirectional_dijkstra": pairs + [{**pairs[0], "weight": None}],
        "bidirectional_shortest_path": pairs,
        "closeness_centrality": [{}, {"u": middle}, {"wf_improved": False}],
        "clustering": [{}, {"nodes": first}, {"nodes": nodes[:4]}],
        "descendants_at_distance": [{"source": first, "distance": d} for d in (0, 1, 2, 50)],
        "dijkstra_path": pairs,
        "dijkstra_path_length": pairs,
        "harmonic_centrality": [{}, {"nbunch": nodes[:2]}],
        "has_path": pairs,
        **dict.fromkeys(("maximum_flow_value", "minimum_cut_value"), flows),
        "multi_source_dijkstra_path_length": [{"sources": [first, middle]}, {"sources": {last}, "cutoff": 3}],
        "node_connected_component": [{"n": middle}],
        "pagerank": [{}, {"weight": None, "alpha": 0.5}, {"personalization": {first: 1, last: 2.5}}, {"tol": 1e-10, "max_iter": 500}],
        "shortest_path": [*pairs, {"source": first}, {"target": last}, {"source": first, "weight": "weight"}, {"target": last, "weight": "weight"}],
        "shortest_path_length": [*pairs, {"source": first}, {"target": last}, {"source": first, "weight": "weight"}, {"target": last, "weight": "weight"},
                                 {**pairs[0], "weight": "weight"}],
        "single_source_dijkstra": single,
        "single_source_dijkstra_path": single,
        "single_source_dijkstra_path_length": single,
        "single_source_shortest_path": single,
        "single_source_shortest_path_length": single,
        "single_target_shortest_path": [{"target": middle}, {"target": last, "cutoff": 2}],
        "single_target_shortest_path_length": [{"target": middle}, {"target": last, "cutoff": 2}],
        "triangles": [{}, {"nodes": first}, {"nodes": nodes[:3]}],
    }.get(name, [{}])


PATHS = {"bidirectional_shortest_path", "dijkstra_path", "bidirectional_dijkstra", "shortest_path", "single_source_dijkstra",
         "single_source_dijkstra_path", "single_source_shortest_path", "single_target_shortest_path"}


def run(name, graph, given, where):
    """Get a result, or the type of the error and its text."""
    try:
        result = getattr(nx, name)(graph, **given, backend=where)
        return ("generator", list(result)) if inspect.isgenerator(result) else ("value", result)
    except (nx.NetworkXException, ZeroDivisionError, ValueError, KeyError) as error:
        return type(error), str(error)


def length(graph, path, weight):
    """Get the length of a path, which must be one of the graph."""
    total = 0
    for source, target in zip(path, path[1:]):
        parts = graph[source][target].values() if graph.is_multigraph() else [graph[source][target]]
        total += min(1 if weight is None else part.get(weight, 1) for part in parts)
    return total


def same_path(graph, got, wanted, weight):
    """Are these shortest paths of the same nodes? Which of several it is, is free."""
    assert (got[0], got[-1]) == (wanted[0], wanted[-1])
    assert math.isclose(length(graph, got, weight), length(graph, wanted, weight), rel_tol=1e-12)


def same_paths(graph, got, wanted, weight):
    if isinstance(wanted, tuple):
        same(got[0], wanted[0])
        return same_paths(graph, got[1], wanted[1], weight)
    if isinstance(wanted, dict):
        assert set(got) == set(wanted)
        for node in wanted:
            same_path(graph, got[node], wanted[node], weight)
    else:
        same_path(graph, got, wanted, weight)


def same(got, wanted):
    """Are two results equal, fractions to 1e-9, and of the same types?"""
    assert type(got) is type(wanted) or {type(got), type(wanted)} == {int, float}
    if isinstance(wanted, float):
        assert math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-12)
    elif isinstance(wanted, dict):
        assert set(got) == set(wanted)
        for key in wanted:
            same(got[key], wanted[key])
    elif isinstance(wanted, tuple) and len(wanted) == 2 and isinstance(wanted[1], dict):
        assert got[0] == wanted[0]
        same(got[1], wanted[1])
    else:
        assert got == wanted


def as_set(parts):
    return {frozenset(part) if isinstance(part, (set, tuple, list)) else part for part in parts}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("graph", GRAPHS)
def test_results_are_those_of_networkx(name, graph):
    for given in arguments(name, graph):
        wanted = run(name, graph, given, "networkx")
        if not backend.can_run(name, (graph,), given) or isinstance(backend.can_run(name, (graph,), given), str):
            with pytest.raises(NotImplementedError):
                list(getattr(nx, name)(graph, **given, backend="emogi"))
            continue
        try:
            got = run(name, graph, given, "emogi")
        except NotImplementedError:
            assert name == "core_number" and graph.is_directed()
            continue
        assert got[0] == wanted[0], (given, got, wanted)
        if got[0] == "generator" and name not in ("bfs_layers", "all_pairs_shortest_path_length"):
            assert len(got[1]) == len(wanted[1]) and as_set(got[1]) == as_set(wanted[1])
        elif name == "bfs_layers":
            assert [set(layer) for layer in got[1]] == [set(layer) for layer in wanted[1]]
        elif got[0] == "generator":
            same(dict(got[1]), dict(wanted[1]))
        elif name in PATHS and got[0] == "value":
            default = "weight" if "dijkstra" in name else None
            same_paths(graph, got[1], wanted[1], given.get("weight", default))
        elif got[0] == "value":
            same(got[1], wanted[1])


def test_simple_paths_are_lists_of_the_fewest_edges_first():
    for seed in range(6):
        graph = nx.gnm_random_graph(9, 24, seed=seed, directed=seed % 2 == 1)
        for cutoff in (None, 3):
            got = list(nx.all_simple_paths(graph, 0, [8, 5], cutoff, backend="emogi"))
            assert sorted(got) == sorted(nx.all_simple_paths(graph, 0, [8, 5], cutoff))
            assert [len(path) for path in got] == sorted(len(path) for path in got)
    complete = nx.complete_graph(9)
    got = list(nx.all_simple_paths(complete, 0, 8, backend="emogi"))
    assert len(got) == len({tuple(path) for path in got}) == sum(1 for _ in nx.all_simple_paths(complete, 0, 8)) == 13700
    assert next(nx.all_simple_paths(nx.complete_graph(100), 0, 99, backend="emogi")) == [0, 99]


def test_strong_components_come_behind_what_they_lead_to():
    graph = nx.gnp_random_graph(60, 0.03, seed=8, directed=True)
    seen = set()
    for part in nx.strongly_connected_components(graph, backend="emogi"):
        for node in part:
            assert set(graph[node]) <= seen | part
        seen |= part
    assert seen == set(graph)


def test_signatures_are_those_of_networkx():
    for name in FUNCTIONS:
        theirs = inspect.signature(inspect.unwrap(getattr(nx, name)))
        theirs = [(p.name, p.default) for p in theirs.parameters.values() if p.name not in ("backend", "backend_kwargs")]
        ours = [(p.name, p.default) for p in inspect.signature(algorithms.BY_NAME[name]).parameters.values()]
        assert ours == theirs, name


@pytest.mark.parametrize("value", [-1, math.inf, math.nan, None, "far", Fraction(1, 3), 2**60])
def test_lengths_that_are_refused(value):
    graph = nx.path_graph(3)
    graph[0][1]["weight"] = value
    with pytest.raises(NotImplementedError):
        nx.dijkstra_path_length(graph, 0, 2, backend="emogi")
    assert nx.bidirectional_shortest_path(graph, 0, 2, backend="emogi") == [0, 1, 2]


@pytest.mark.parametrize("name, given", [
    ("pagerank", {"nstart": {0: 1}}), ("pagerank", {"dangling": {0: 1}}), ("pagerank", {"alpha": 1.5}), ("betweenness_centrality", {"k": 2}),
    ("betweenness_centrality", {"weight": "weight"}), ("closeness_centrality", {"distance": "weight"}), ("clustering", {"weight": "weight"}),
    ("dijkstra_path", {"source": 0, "target": 1, "weight": lambda u, v, d: 1}), ("shortest_path", {}), ("shortest_path", {"source": 0, "method": "bellman-ford"}),
    ("bridges", {"root": 0}), ("single_source_dijkstra", {"source": 0, "target": 2}), ("harmonic_centrality", {"sources": [0]}),
])
def test_calls_that_are_not_served(name, given):
    graph = nx.path_graph(4)
    assert isinstance(backend.can_run(name, (graph,), given), str)
    with pytest.raises(NotImplementedError):
        getattr(nx, name)(graph, **given, backend="emogi")


def test_ranks_that_have_not_converged():
    graph = nx.gnm_random_graph(50, 200, seed=4, directed=True)
    for iterations in range(1, 60):
        outcomes = [run("pagerank", graph, {"max_iter": iterations}, where)[0] for where in ("emogi", "networkx")]
        assert outcomes[0] == outcomes[1], iterations
    assert run("pagerank", graph, {"max_iter": 0}, "emogi")[0] is nx.PowerIterationFailedConvergence


def test_types_of_numbers():
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 3, "weight")
    assert type(nx.dijkstra_path_length(graph, 0, 2, backend="emogi")) is int
    assert nx.single_source_dijkstra_path_length(graph, 0, backend="emogi") == {0: 0, 1: 3, 2: 6}
    nx.set_edge_attributes(graph, 0.5, "weight")
    assert type(nx.dijkstra_path_length(graph, 0, 2, backend="emogi")) is float


def test_a_graph_there_and_back():
    graph = weighted(nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "b")]), 1, [2, 3])
    graph.add_node("alone")
    graph.graph["name"] = "x"
    loaded = backend.convert_from_nx(graph, edge_attrs={"weight": 1}, preserve_graph_attrs=True)
    assert isinstance(loaded, EmogiGraph) and len(loaded) == 3 and "alone" in loaded and [] not in loaded
    back = backend.convert_to_nx(loaded)
    assert nx.utils.graphs_equal(back, graph)
    assert type(back) is nx.MultiDiGraph
    assert nx.number_weakly_connected_components(loaded) == 2


def test_a_connection_that_was_lost():
    graph = nx.path_graph(4)
    loaded = backend.convert_from_nx(graph)
    assert nx.is_connected(loaded)
    STORE.close()
    assert nx.is_connected(loaded)
    STORE.close()
    graph.add_edge(3, 4)
    with pytest.raises(psycopg.OperationalError, match="was changed or deleted"):
        nx.is_connected(loaded)
    assert nx.is_connected(graph, backend="emogi")


def test_a_graph_that_changes():
    graph = nx.path_graph(4)
    assert nx.number_connected_components(graph, backend="emogi") == 1
    graph.add_edge(10, 11)
    assert nx.number_connected_components(graph, backend="emogi") == 2
    graph.remove_edge(1, 2)
    assert nx.number_connected_components(graph, backend="emogi") == 3


def test_tables_in_a_schema(empty_schema, db, monkeypatch):
    monkeypatch.setattr(nx.config.backends.emogi, "schema", empty_schema)

    def tables():
        return db.execute("SELECT relname, relpersistence FROM pg_class WHERE relnamespace = %s::regnamespace AND relname LIKE 'emogi_networkx%%'", [empty_schema]).fetchall()

    graph = nx.path_graph(5)
    graph.add_node("alone")
    assert nx.number_connected_components(graph, backend="emogi") == 2
    assert [kind for _, kind in tables()] == ["u", "u"]
    del graph
    gc.collect()
    other = nx.path_graph(3)
    assert nx.is_connected(other, backend="emogi")
    assert len(tables()) == 1
    nx.config.backends.emogi.schema = ""
    assert nx.is_connected(nx.path_graph(4), backend="emogi")
    del other
    gc.collect()


def test_small_graphs_are_left_to_networkx(monkeypatch):
    monkeypatch.setattr(nx.config.backends.emogi, "min_edges", 5)
    assert isinstance(backend.should_run("pagerank", (nx.path_graph(3),), {}), str)
    assert backend.should_run("pagerank", (nx.path_graph(10),), {}) is True


def test_a_load_that_failed_can_be_made_again(empty_schema, monkeypatch):
    graph = nx.path_graph(4)
    monkeypatch.setattr(nx.config.backends.emogi, "schema", "not_there")
    for _ in range(2):
        with pytest.raises(psycopg.Error):
            nx.is_connected(graph, backend="emogi")
    monkeypatch.setattr(nx.config.backends.emogi, "schema", empty_schema)
    assert nx.is_connected(graph, backend="emogi")
    monkeypatch.setattr(nx.config.backends.emogi, "conninfo", "host=/not/there")
    other = nx.path_graph(4)
    with pytest.raises(psycopg.OperationalError):
        nx.is_connected(other, backend="emogi")
    monkeypatch.setattr(nx.config.backends.emogi, "conninfo", "")
    assert nx.is_connected(other, backend="emogi")


def test_tables_go_when_settings_change(empty_schema, db, monkeypatch):
    query = "SELECT count(*) FROM pg_class WHERE relnamespace = %s::regnamespace AND relname LIKE 'emogi_networkx%%'"
    monkeypatch.setattr(nx.config.backends.emogi, "schema", empty_schema)
    graph = nx.path_graph(5)
    for change in ("settings", "lost"):
        assert nx.is_connected(graph, backend="emogi")
        assert db.execute(query, [empty_schema]).fetchone() == (1,)
        if change == "lost":
            STORE.connection().close()
        monkeypatch.setattr(nx.config.backends.emogi, "conninfo", f"application_name={change}")
        monkeypatch.setattr(nx.config.backends.emogi, "schema", "")
        assert nx.is_connected(graph, backend="emogi")
        assert db.execute(query, [empty_schema]).fetchone() == (0,)
        monkeypatch.setattr(nx.config.backends.emogi, "schema", empty_schema)


def test_views_are_not_kept():
    graph = nx.path_graph(6)
    views = [graph.subgraph(range(5)), nx.subgraph_view(graph, filter_node=lambda node: node < 5)]
    assert [nx.number_connected_components(view, backend="emogi") for view in views] == [1, 1]
    graph.remove_edge(1, 2)
    assert [nx.number_connected_components(view, backend="emogi") for view in views] == [2, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_has_a_connection_of_its_own():
    graph = nx.path_graph(4)
    assert nx.is_connected(graph, backend="emogi")
    parent = STORE.connection().info.backend_pid
    out, into = os.pipe()
    with STORE.lock:
        child = os.fork()
    if not child:
        try:
            text = f"{nx.number_connected_components(graph, backend='emogi')} {STORE.connection().info.backend_pid}"
            os.write(into, text.encode())
        finally:
            os._exit(0)
    os.close(into)
    os.waitpid(child, 0)
    found, pid = os.read(out, 100).split()
    assert int(found) == 1 and int(pid) != parent
    assert STORE.connection().info.backend_pid == parent and nx.is_connected(graph, backend="emogi")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name, key, values", [
    ("single_source_shortest_path_length", "cutoff", [2.5, 2.0, -1, 0.1, math.nan, math.inf, 1e300, 10**30]),
    ("single_source_shortest_path", "cutoff", [2.5, -0.5, math.nan, -math.inf]),
    ("single_target_shortest_path", "cutoff", [1.5]),
    ("single_source_dijkstra_path_length", "cutoff", [-1, 0, 2.5, math.nan, math.inf]),
    ("single_source_dijkstra_path", "cutoff", [-1, math.nan]),
    ("single_source_dijkstra", "cutoff", [-1, 1]),
    ("descendants_at_distance", "distance", [1.0, 1.5, True, -1, math.nan, math.inf, "1", None, 10**30]),
])
def test_bounds_of_all_kinds(directed, name, key, values):
    graph = nx.path_graph(6, create_using=nx.DiGraph if directed else nx.Graph)
    nx.set_edge_attributes(graph, {edge: index % 2 for index, edge in enumerate(graph.edges)}, "weight")
    for value in values:
        given = {"target" if "target" in name else "source": 0, key: value}
        assert run(name, graph, given, "emogi") == run(name, graph, given, "networkx"), value


def test_whole_zeros_and_nodes_that_are_not_there():
    graph = weighted(nx.path_graph(4), 1)
    graph.add_node("alone")
    for name, given in (("single_source_dijkstra_path_length", {"source": 0}), ("single_source_dijkstra", {"source": 0}), ("harmonic_centrality", {}),
                        ("bidirectional_dijkstra", {"source": 1, "target": 1})):
        assert repr(run(name, graph, given, "emogi")[1]).count(": 0,") == repr(run(name, graph, given, "networkx")[1]).count(": 0,"), name
    empty = nx.Graph()
    for name, given in (("closeness_centrality", {"u": 0}), ("harmonic_centrality", {"nbunch": 0}), ("closeness_centrality", {}), ("harmonic_centrality", {})):
        assert run(name, empty, given, "emogi") == run(name, empty, given, "networkx"), name
    for name in ("descendants", "ancestors"):
        for kind in (nx.Graph, nx.DiGraph):
            assert run(name, kind([(1, 2)]), {"source": "nn"}, "emogi") == run(name, kind([(1, 2)]), {"source": "nn"}, "networkx")


@pytest.mark.parametrize("given, weight", [({}, 1e308), ({"personalization": {0: 1e308, 1: 1e308}}, 1), ({"max_iter": 10**10}, 1), ({"tol": math.nan}, 1), ({"tol": math.inf}, 1)])
def test_ranks_of_extreme_numbers(given, weight):
    graph = nx.path_graph(5)
    nx.set_edge_attributes(graph, weight, "weight")
    with pytest.raises(NotImplementedError):
        nx.pagerank(graph, **given, backend="emogi")


def test_iterations_that_are_no_int():
    for where in ("emogi", "networkx"):
        with pytest.raises(TypeError):
            nx.pagerank(nx.path_graph(5), max_iter=100.0, backend=where)


@pytest.mark.parametrize("name, value", [("min_edges", "many"), ("min_edges", -1), ("min_edges", True), ("conninfo", None), ("schema", 5)])
def test_settings_that_are_none(name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        setattr(nx.config.backends.emogi, name, value)


def test_an_environment_that_is_wrong():
    code = "import networkx as nx; print(nx.config.backends.emogi.schema, nx.config.backends.emogi.min_edges)"
    environment = {**os.environ, "EMOGI_MIN_EDGES": "abc", "EMOGI_SCHEMA": "scratch"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["scratch", "10000"] and "not 'abc'; using 10000" in done.stderr


def test_flow_without_finite_capacities_is_left_to_networkx():
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    with pytest.raises(NotImplementedError) as raised:
        nx.maximum_flow_value(graph, "a", "c", backend="emogi")
    assert "only finite capacities" in str(raised.value.__cause__)
    nx.set_edge_attributes(graph, {("a", "b"): 2.5, ("b", "c"): 4}, "capacity")
    assert nx.maximum_flow_value(graph, "a", "c", backend="emogi") == nx.minimum_cut_value(graph, "a", "c", backend="emogi") == 2.5
    assert nx.maximum_flow_value(graph, "a", "c", flow_func=nx.algorithms.flow.dinitz) == 2.5
