"""Handles of graphs: what their arguments make of the graph argument."""

import networkx as nx
import numpy as np
import pandas
import psycopg
import pytest
from psycopg import sql

import emogi


def test_columns_are_quoted(db):
    db.execute('CREATE TABLE "Odd ""name" ("From" int, "t,o" int, "k)m" float8, id int)')
    db.execute('INSERT INTO "Odd ""name" VALUES (1, 2, 2.5, 7), (2, 3, 1, 8)')
    graph = db.graph(('Odd "name',), source="From", target="t,o", weight="k)m", edge_id="id")
    assert list(graph.sssp(1)) == [(1, 0), (2, 2.5), (3, 3.5)]
    assert graph.shortest_path(1, 3, select=["edge"])["edge"].tolist() == [7, 8, None]


def test_columns_beside_a_condition(db):
    db.execute('CREATE TABLE "Far away" (a int, b int, km float8)')
    db.execute('INSERT INTO "Far away" VALUES (1, 2, 5), (2, 3, 50)')
    assert list(db.graph('"Far away" WHERE km < 9', source="a", target="b").bfs(1)) == [(1, 0), (2, 1)]
    for graph in ("SELECT a, b FROM x", '"Far away"(a, b)'):
        with pytest.raises(ValueError, match="source and target name columns of a relation"):
            db.graph(graph, source="a", target="b")


def test_costs_of_the_way_back(db):
    db.execute("CREATE TABLE street (a int, b int, km float8, back float8, id int)")
    db.execute("INSERT INTO street VALUES (1, 2, 5, 6, 1), (2, 3, 5, -1, 2)")
    graph = db.graph("street", source="a", target="b", weight="km", reverse_cost="back", edge_id="id")
    assert list(graph.sssp(2)) == [(1, 6), (2, 0), (3, 5)]
    with pytest.raises(ValueError, match="requires edge_id"):
        db.graph("street", source="a", target="b", weight="km", reverse_cost="back")


@pytest.mark.parametrize(
    "options",
    [{"source": "src"}, {"weight": "w"}, {"source": "src", "target": "dst", "edge_id": "id"}, {"direction": "up"}, {"keys": "int"},
     {"weight": ""}, {"source": "src", "target": "dst", "weight": ""}, {"source": "src", "target": "d\0"}, {"source": [], "target": []}],
)
def test_arguments_that_say_nothing(db, options):
    with pytest.raises(ValueError):
        db.graph("follows", **options)


def test_a_query_with_parameters(db):
    graph = db.graph("SELECT src, dst FROM follows WHERE src < $1 AND dst <> ALL ($2::bigint[])", parameters=[4, [2]])
    assert list(graph.bfs(1)) == [(1, 0), (3, 1), (4, 2)]


def test_vertices_without_edges(db):
    db.execute("CREATE TABLE person (id bigint)")
    db.execute("INSERT INTO person VALUES (1), (99)")
    assert 99 in db.graph("follows", vertices="person").cc()["vertex"]
    assert 99 not in db.graph("follows").cc()["vertex"]


def test_the_direction_of_the_handle(db):
    graph = db.graph("follows", direction="in")
    assert graph.bfs(4)["vertex"].tolist() == [1, 2, 3, 4, 6]
    assert graph.bfs(4, direction="out")["vertex"].tolist() == [4, 5]
    assert len(graph.cc()) == 6


def test_a_connection_of_ones_own(empty_schema):
    with psycopg.connect() as connection:
        connection.row_factory = psycopg.rows.dict_row
        connection.execute("CREATE TABLE mine (src text, dst text)")
        connection.execute("INSERT INTO mine VALUES ('a', 'b')")
        graph = emogi.Graph(connection, "mine")
        assert list(graph.cc()) == [("a", "a"), ("b", "a")]
        assert graph.triangle_count() == 0
        assert graph.estimate()["fits"] is True
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        connection.rollback()


def test_an_extension_in_another_schema(db):
    """Names are qualified, so the search path does not matter."""
    db.execute("SET search_path = pg_catalog")
    schema = db.execute("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'emogi'").fetchone()[0]
    graph = db.graph("VALUES (1, 2)")
    assert graph.schema == schema
    assert list(graph.bfs(1)) == [(1, 0), (2, 1)]
    assert list(graph.cc()) == [(1, 1), (2, 1)]


def test_a_call_in_sql(db):
    query = sql.SQL("SELECT level, count(*) AS n FROM {} GROUP BY level ORDER BY level").format(db.graph("follows").call("bfs", source=1))
    assert list(db.fetch(query)) == [(0, 1), (1, 2), (2, 1), (3, 1)]


def test_changes_are_seen(db):
    graph = db.graph("follows")
    assert len(graph.bfs(1)) == 5
    db.execute("INSERT INTO follows VALUES (5, 77)")
    assert len(graph.bfs(1)) == 6


@pytest.mark.parametrize("kind, wanted", [("int", "bigint"), ("bigint", "bigint"), ("smallint", "bigint"), ("text", "text"), ("uuid", "uuid"), ("numeric", "text"), ("varchar(9)", "text")])
@pytest.mark.parametrize("graph, options", [
    ("link", {}), ("link(a, b)", {}), ("link", {"source": "a", "target": "b"}), ("SELECT a, b FROM link -- all", {}), ("SELECT 'x' AS x, b AS dst, a AS src FROM link;", {}),
    ("SELECT a, b FROM link WHERE a = ANY ($1)", {"parameters": [[]]}), ("TABLE link", {}),
])
@pytest.mark.parametrize("vertices", [None, "link(a)", "SELECT b FROM link"])
def test_the_type_of_vertices_is_found(db, kind, wanted, graph, options, vertices):
    db.execute(f"CREATE TABLE link (a {kind}, b {kind})")
    if graph == "link" and not options:
        db.execute("ALTER TABLE link RENAME a TO src")
        db.execute("ALTER TABLE link RENAME b TO dst")
        vertices = vertices and vertices.replace("a", "src").replace("b FROM", "dst FROM")
    if "parameters" in options:
        options = {"parameters": [None]}
    handle = db.graph(graph, vertices=vertices, **options)
    assert handle.keys == wanted
    assert len(handle.cc()) == 0


def test_rows_of_a_query_of_texts(db):
    db.execute("CREATE TABLE link (a text, b text)")
    db.execute("INSERT INTO link VALUES ('x', 'y')")
    assert list(db.graph("SELECT a, b FROM link").cc()) == [("x", "x"), ("y", "x")]
    assert list(db.graph("SELECT a, b FROM link WHERE a < $1", parameters=["z"], vertices="VALUES ('w')").cc()) == [("w", "w"), ("x", "x"), ("y", "x")]
    with pytest.raises(psycopg.Error):
        db.graph("SELECT a, b FROM").cc()


def test_what_is_no_graph(db):
    db.execute("CREATE TABLE net (src int, dst int)")
    for graph in (pandas.DataFrame({"net": [1]}), ["net"], nx.Graph([("net", "follows")]), {"net": 1}, (), (1,), None, 5):
        with pytest.raises(TypeError, match="graph must be a str"):
            db.graph(graph)
    with pytest.raises(ValueError):
        db.graph(("net\0",))
    for options in ({"parameters": 1}, {"parameters": {"a": 1}}, {"parameters": "ab"}, {"vertices": ["net"]}):
        with pytest.raises(TypeError):
            db.graph("SELECT 1, 2", **options)


def test_what_is_no_connection(db):
    for connection in ("dbname=mydb", None, psycopg.AsyncConnection):
        with pytest.raises(TypeError, match="psycopg.Connection"):
            emogi.Graph(connection, "follows")
        with pytest.raises(TypeError, match="psycopg.Connection"):
            emogi.fetch(connection, "SELECT 1 AS a")
    with pytest.raises(TypeError):
        db.fetch(5)
    with pytest.raises(TypeError):
        db.fetch("SELECT %s AS a", 5)


def test_a_filter_of_edges(db):
    db.execute("CREATE TABLE calls (src int, dst int, kind text, amount float8, tags int[])")
    db.execute("INSERT INTO calls VALUES (1, 2, 'sms', 12, '{1}'), (2, 3, 'it''s', 30, '{2}'), (2, 4, 'call', 50, NULL), (3, 5, 'sms', 5, '{1,2}')")
    g = emogi.Graph(db, "calls")
    assert sorted(g.bfs(1, edge_filter="kind = $1 AND amount > $2", params=["sms", 10])["vertex"]) == [1, 2]
    assert sorted(g.bfs(1, edge_filter="kind <> $1", params="call")["vertex"]) == [1, 2, 3, 5]
    assert sorted(g.bfs(1, edge_filter="kind = ANY ($1)", params=[["sms", "it's"]])["vertex"]) == [1, 2, 3, 5]
    assert sorted(g.bfs(1, edge_filter="amount > $1", params=np.array([10.5]))["vertex"]) == [1, 2, 3, 4]
    assert sorted(g.bfs(1, edge_filter="kind = $1", params=(None,))["vertex"]) == []
    assert sorted(g.bfs(1, edge_filter=sql.SQL("kind IN ({}, 'sms')").format("it's"))["vertex"]) == [1, 2, 3, 5]
    assert g.triangle_count(edge_filter="amount > 100") == 0
    assert g.estimate(edge_filter="amount > $1", params=3)["edges"] > 0
    assert db.execute(sql.SQL("SELECT count(*) FROM {}").format(g.call("cc", edge_filter="amount < $1", params=20))).fetchone()[0] == 4
    over = emogi.Graph(db, "SELECT * FROM calls WHERE amount > $1", parameters=[10])
    assert sorted(over.bfs(1, edge_filter="kind = $1", params=["sms"])["vertex"]) == [1, 2]
    with pytest.raises(TypeError, match="edge_filter of bfs must be a str"):
        g.bfs(1, edge_filter=5)
    with pytest.raises(psycopg.errors.UndefinedColumn, match="amoun"), db.transaction():
        g.bfs(1, edge_filter="amoun > 3")
