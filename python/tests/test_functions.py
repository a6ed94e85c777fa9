"""Every method: its signature is that of the catalogue, and its rows are those that plain SQL returns."""

import uuid

import numpy as np
import pandas
import psycopg
import pyarrow
import pytest

import emogi
from emogi._functions import FUNCTIONS

# Calls of functions: positional arguments, arguments by name, and the same in SQL.
CALLS = {
    "all_shortest_paths": ([1, 4], {"max_paths": 5}, "1, 4, max_paths => 5"),
    "betweenness": ([], {"normalized": False}, "normalized => false"),
    "bfs": ([[1, 6]], {"max_depth": 2, "direction": "both"}, "ARRAY[1, 6], 2, 'both'"),
    "cdlp": ([3], {}, "3"),
    "check": ([], {"weights": True}, "weights => true"),
    "circuit": (["VALUES (1, 9), (5, 0)"], {}, "'VALUES (1, 9), (5, 0)'"),
    "closeness": ([], {"direction": "in"}, "direction => 'in'"),
    "cycles": ([1], {"direction": "both", "max_length": 4}, "1, 4, direction => 'both'"),
    "degree": (["both"], {}, "'both'"),
    "distance_matrix": ([[1, 2], [4, 5]], {}, "ARRAY[1, 2], ARRAY[4, 5]"),
    "eigenvector": ([], {"direction": "both", "max_iterations": 500}, "500, direction => 'both'"),
    "heat": (["VALUES (1, 100)"], {"max_iterations": 3}, "'VALUES (1, 100)', 3"),
    "k_shortest_paths": ([1, 5, 2], {}, "1, 5, 2"),
    "katz": ([0.2], {"beta": 2.5}, "0.2, 2.5"),
    "leiden": ([], {"resolution": 0.5}, "0.5"),
    "louvain": ([], {"seed": 7}, "seed => 7"),
    "modularity": (["SELECT vertex, component FROM emogi_cc('edges')"], {}, "'SELECT vertex, component FROM emogi_cc(''edges'')'"),
    "neural": (["VALUES (1, 1)"], {}, "'VALUES (1, 1)'"),
    "pagerank": ([0.5], {"start": "VALUES (1, 1)", "weights": True}, "0.5, start => 'VALUES (1, 1)', weights => true"),
    "random_walk": ([1, 5, 3], {"seed": 2}, "1, 5, 3, seed => 2"),
    "reachable": (["VALUES (1, 5), (5, 1)"], {}, "'VALUES (1, 5), (5, 1)'"),
    "shortest_path_tree": ([1], {"max_distance": 3.5}, "1, 3.5"),
    "shortest_paths": ([[1, 6], [4, 5]], {}, "ARRAY[1, 6], ARRAY[4, 5]"),
    "similarity": (["cosine"], {"top_k": 1, "direction": "both"}, "'cosine', 1, direction => 'both'"),
    "spanning_forest": ([True], {}, "true"),
    "rollup": ([[1, 6], 2], {}, "ARRAY[1, 6], 2"),
    "simple_paths": ([1, [4, 5]], {"max_depth": 3, "max_cost": 4.5}, "1, ARRAY[4, 5], 3, 4.5"),
    "sssp": ([np.array([1, 6])], {}, "ARRAY[1, 6]"),
    "sswp": ([np.int64(1)], {}, "1"),
}


@pytest.fixture
def edges(db):
    db.execute("CREATE TABLE edges (id bigint, src bigint, dst bigint, weight float8)")
    db.execute("INSERT INTO edges VALUES (10, 1, 2, 1), (11, 1, 3, 0.5), (12, 2, 4, 2), (13, 3, 4, 1.5), (14, 4, 5, 1), (15, 6, 1, 1)")
    return db


# Vertices of the graph for the arguments without a default of the other functions.
VERTICES = {"source": 1, "target": 5, "sources": [1, 6], "targets": [4, 5]}


def call_of(name):
    """Get the call of a function: of a function without an entry, with only the arguments that have no default."""
    if name in CALLS:
        return CALLS[name]
    given = [VERTICES[argument] for argument, type_ in FUNCTIONS[name][0][0] if type_.endswith("!")]
    return given, {}, ", ".join(f"ARRAY{one}" if isinstance(one, list) else str(one) for one in given)


def test_calls_are_of_functions():
    assert set(CALLS) <= set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_rows_are_those_of_sql(edges, name):
    positional, named, said = call_of(name)
    if name == "evict":
        edges.graph("edges").cc()
    result = getattr(edges.graph("edges"), name)(*positional, **named)
    cursor = edges.execute(f"SELECT * FROM emogi_{name}('edges'{', ' if said else ''}{said})")
    expected = cursor.fetchall()
    if isinstance(result, emogi.Result):
        assert result.keys() == [column.name for column in cursor.description]
        assert list(result) == expected
        assert len(expected) > 0 or name in ("triangles",)
        assert list(result.pandas().columns) == result.keys()
        assert [tuple(row.values()) for row in result.arrow().to_pylist()] == expected
    elif isinstance(result, dict):
        assert {key: value for key, value in result.items() if key != "cache"} == {
            column.name: value for column, value in zip(cursor.description, expected[0]) if column.name != "cache"
        }
    elif name != "evict":
        assert result == expected[0][0]
    else:
        assert result > 0


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_types_are_those_of_sql(edges, name):
    """Columns are decoded by what the package believes that they are, so that must be so."""
    positional, named, said = call_of(name)
    for form in FUNCTIONS[name]:
        if form[3] != "rows" or name in ("shortest_paths", "reachable") and "pairs" in dict(form[0]):
            continue
        cursor = edges.execute(f"SELECT * FROM emogi_{name}('edges'{', ' if said else ''}{said}) LIMIT 0")
        types = edges.execute("SELECT array_agg(format_type(t, NULL)::text ORDER BY at) FROM unnest(%s::oid[]) WITH ORDINALITY AS u(t, at)",
                              [[column.type_code for column in cursor.description]]).fetchone()[0]
        assert types == ["bigint" if type_ == "key" else type_ for _, type_ in form[1]]


def test_keys_that_are_text(db):
    db.execute("CREATE TABLE link (src text, dst text)")
    db.execute("INSERT INTO link VALUES ('Köln', 'Bonn'), ('Bonn', ''), ('x''y', 'x\"y')")
    link = db.graph("link")
    assert link.keys == "text"
    assert list(link.bfs("Köln")) == [("", 2), ("Bonn", 1), ("Köln", 0)]
    assert list(link.bfs(["x'y"])) == [('x"y', 1), ("x'y", 0)]
    assert dict(link.cc())["vertex"].tolist() == ["", "Bonn", "Köln", 'x"y', "x'y"]
    assert link.cc().arrow().column("vertex").to_pylist() == ["", "Bonn", "Köln", 'x"y', "x'y"]
    assert list(link.bfs_tree("Köln", select=["vertex", "predecessor"])) == [("", "Bonn"), ("Bonn", "Köln"), ("Köln", None)]


def test_keys_that_are_uuid(db):
    a, b = uuid.UUID(int=1), uuid.UUID(int=2**127 + 5)
    db.execute("CREATE TABLE link (src uuid, dst uuid)")
    db.execute("INSERT INTO link VALUES (%s, %s)", [a, b])
    link = db.graph("link")
    assert link.keys == "uuid"
    assert list(link.bfs(a)) == [(a, 0), (b, 1)]
    assert list(link.bfs([a, b])) == [(a, 0), (b, 0)]
    assert list(link.cc()) == [(a, a), (b, a)]
    assert list(link.bfs_tree(a, select=["predecessor"])) == [(None,), (a,)]
    assert link.bfs_tree(a, select=["predecessor"]).arrow().column(0).to_pylist() == [None, a]


def test_keys_of_several_columns(db):
    db.execute("CREATE TABLE trip (city text, line int, to_city text, to_line int, minutes int)")
    db.execute("INSERT INTO trip VALUES ('Bonn', 1, 'Bonn', 2, 5), ('Bonn', 2, 'Bad Ems', 1, 70)")
    trip = db.graph("trip", source=["city", "line"], target=["to_city", "to_line"], weight="minutes")
    assert dict(iter(trip.sssp(("Bonn", 1)))) == {"(Bonn,1)": 0, "(Bonn,2)": 5, '("Bad Ems",1)': 75}
    assert dict(iter(trip.sssp([("Bonn", 2), ("Bad Ems", 1)]))) == {"(Bonn,2)": 0, '("Bad Ems",1)': 0}


def test_a_source_of_none_gives_no_rows(db):
    assert len(db.graph("follows").bfs(None)) == 0
    assert len(db.graph("follows").bfs([])) == 0
    assert len(db.graph("follows").shortest_path(None, 5)) == 0


def test_pairs_by_a_query(db):
    follows = db.graph("follows")
    paths = follows.shortest_paths(pairs="VALUES (1, 4), (5, 1)", select=["source", "target", "vertex"])
    assert list(paths) == [(1, 4, 1), (1, 4, 2), (1, 4, 4)]
    with pytest.raises(TypeError, match="these arguments together"):
        follows.shortest_paths([1], pairs="VALUES (1, 4)")


def test_what_no_call_can_be_made_of(db):
    follows = db.graph("follows")
    with pytest.raises(TypeError):
        follows.bfs(True)
    with pytest.raises(TypeError, match="several types"):
        follows.bfs([1, "a"])
    with pytest.raises(ValueError, match="no column 'depth'"):
        follows.bfs(1, select=["depth"])
    with pytest.raises(TypeError):
        follows.bfs()


@pytest.mark.parametrize("call", [
    lambda g: g.bfs(1.5), lambda g: g.bfs([1, float("nan")]), lambda g: g.bfs([[1]]), lambda g: g.bfs(np.array([[1, 2]])), lambda g: g.bfs({1: 2}),
    lambda g: g.bfs(x for x in (1, 2)), lambda g: g.bfs(1, max_depth=1.5), lambda g: g.bfs(1, max_depth=True), lambda g: g.bfs(1, max_depth="2"),
    lambda g: g.bfs(1, direction=1), lambda g: g.pagerank("a"), lambda g: g.pagerank(weights=1), lambda g: g.pagerank(start=[1, 2]), lambda g: g.pagerank(start={1: "x"}),
    lambda g: g.modularity([{1, 2}, {3}]), lambda g: g.similarity(pairs=[1, 2]), lambda g: g.similarity(pairs={1: 2}), lambda g: g.heat(start=5),
])
def test_arguments_of_other_types(db, call):
    with pytest.raises(TypeError):
        call(db.graph("follows"))


def test_whole_numbers_in_floats(db):
    follows = db.graph("follows")
    for source in (1.0, np.float64(1), np.array(1), np.array([1.0]), pandas.Series([1.0])):
        assert len(follows.bfs(source, max_depth=np.float64(1))) == 3


def test_what_is_masked_is_null(db):
    db.execute("INSERT INTO follows VALUES (0, 9)")
    follows = db.graph("follows")
    only = [(1, 0), (2, 1), (3, 1), (4, 2), (5, 3)]
    for source in ([1, None], np.ma.MaskedArray([1, 0], mask=[False, True]), pandas.Series([1, None], dtype="Int64"), pyarrow.array([1, None])):
        assert list(follows.bfs(source)) == only
    predecessors = follows.bfs_tree(1)["predecessor"]
    assert 0 not in follows.bfs(predecessors)["vertex"]
    assert len(follows.bfs(pandas.NA)) == 0
    query = "SELECT src, dst FROM follows WHERE src = ANY ($1::bigint[])"
    assert list(db.graph(query, parameters=[np.ma.MaskedArray([1, 0], mask=[False, True])]).cc()["vertex"]) == [1, 2, 3]


def test_a_dict_of_start_values(db):
    follows = db.graph("follows")
    ranks = follows.pagerank(start={1: 3, np.int64(6): 1.0}, damping=0.5)
    assert list(ranks) == list(follows.pagerank(start="VALUES (1, 3), (6, 1)", damping=0.5))
    assert list(follows.heat({1: 100}, max_iterations=3)) == list(follows.heat("VALUES (1, 100)", 3))
    db.execute("CREATE TABLE link (src text, dst text)")
    db.execute("INSERT INTO link VALUES ('a''b', 'c\\'), ('c\\', 'd')")
    link = db.graph("link")
    assert dict(iter(link.pagerank(start={"a'b": 1, "c\\": 2}, damping=0.0))) == pytest.approx({"a'b": 1 / 3, "c\\": 2 / 3, "d": 0})


def test_a_dict_of_communities(db):
    follows = db.graph("follows")
    found = follows.modularity({1: 1, 2: 1, 3: 2, 4: 2, 5: 2, 6: 1})
    assert found == follows.modularity("VALUES (1, 1), (2, 1), (3, 2), (4, 2), (5, 2), (6, 1)")
    assert found == follows.modularity({1: "a", 2: "a", 3: "b", 4: "b", 5: "b", 6: "a"})


def test_a_list_of_pairs(db):
    follows = db.graph("follows")
    pairs = [(2, 3), (2, np.int64(6))]
    assert list(follows.similarity(pairs=pairs)) == list(follows.similarity(pairs="VALUES (2, 3), (2, 6)"))
    assert list(follows.reachable([(1, 5), (5, 1)])) == list(follows.reachable("VALUES (1, 5), (5, 1)"))


def test_names_of_columns_and_functions(db):
    follows = db.graph("follows")
    assert follows.bfs(1, select="level").keys() == ["level"]
    with pytest.raises(ValueError, match="no column twice"):
        follows.bfs(1, select=["vertex", "vertex"])
    with pytest.raises(ValueError, match="no function 'nope'"):
        follows.call("nope")


def test_errors_have_the_hint(db):
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        db.graph("follows").bfs(1, direction="up")
    assert "HINT:  Use 'out'" in str(caught.value)
    assert caught.value.diag.message_hint.startswith("Use 'out'")
    db.execute("CREATE TABLE link (src text, dst text)")
    with pytest.raises(psycopg.errors.DatatypeMismatch, match="Pass the source as text"):
        db.graph("link").bfs(1)
    assert list(db.graph("follows").bfs(5)) == [(5, 0)]


def test_arguments_are_quoted(db):
    for nasty in ("'; DROP TABLE follows; --", "\\'; DROP TABLE follows; --", "{}%s%(x)s$1"):
        with pytest.raises(psycopg.Error):
            db.graph("follows").bfs(1, direction=nasty)
        with pytest.raises(psycopg.Error):
            db.graph(nasty).cc()
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            db.graph("follows").bfs(nasty)
    assert db.execute("SELECT count(*) FROM follows").fetchone() == (6,)
