"""Notices of the server are warnings, and errors about what does not exist name what does."""

import copy
import pathlib
import warnings

import psycopg
import pytest

import emogi


def test_a_notice_is_a_warning_at_the_call(db):
    db.execute("CREATE TABLE rk (src int, dst int, km float8)")
    db.execute("INSERT INTO rk VALUES (1, 2, 10), (2, 3, 5)")
    with pytest.warns(emogi.Notice, match="has no column weight or cost") as caught:
        assert list(db.graph("rk").sssp(1)) == [(1, 0.0), (2, 1.0), (3, 2.0)]
    assert "rk(src, dst, km)" in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.warns(emogi.Notice, match="every edge has capacity 1"):
        assert db.graph("rk").max_flow(1, 3) == 1
    with pytest.warns(emogi.Notice, match="has no column weight"):
        db.fetch("SELECT * FROM emogi_sssp('rk', 1)")


def test_a_caller_in_a_folder_whose_name_begins_like_the_package(db):
    db.execute("CREATE TABLE rk (src int, dst int, km float8)")
    file = str(pathlib.Path(emogi.__file__).parent) + "_app/app.py"
    with pytest.warns(emogi.Notice) as caught:
        exec(compile("\n\ndb.graph('rk').sssp(1)", file, "exec"), {"db": db})
    assert (caught[0].filename, caught[0].lineno) == (file, 3)


def _fail(db):
    db.execute("CREATE FUNCTION pg_temp.fail() RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'the cause'; RAISE 'no'; END$$")
    return db.fetch("SELECT pg_temp.fail() AS one")


def test_the_notices_of_a_call_that_fails(db):
    with pytest.warns(emogi.Notice, match="the cause") as caught, pytest.raises(psycopg.errors.RaiseException, match="no"):
        _fail(db)
    assert caught[0].filename == __file__


def test_a_warning_that_is_an_error_does_not_hide_that_of_the_server(db):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(psycopg.errors.RaiseException, match="no"):
            _fail(db)
    db.rollback()
    assert len(db.fetch("SELECT 1 AS one")) == 1


def test_no_notice_is_no_warning(db):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        db.graph("follows").bfs(1)
        db.execute("DO $$BEGIN RAISE NOTICE 'of the user'; END$$")


def test_a_handler_of_the_user_gets_the_notice_too(db):
    texts = []
    db.add_notice_handler(lambda notice: texts.append(notice.message_primary))
    with pytest.warns(emogi.Notice, match="said"):
        _say(db)
    assert texts == ["said"]


def _say(db):
    db.execute("CREATE FUNCTION pg_temp.say() RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'said'; RETURN 1; END$$")
    return db.fetch("SELECT pg_temp.say() AS one")


def test_a_warning_that_is_an_error_leaves_the_connection_usable(db):
    db.execute("CREATE TABLE rk (src int, dst int, km float8)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(emogi.Notice):
            db.graph("rk").sssp(1)
    assert len(db.graph("follows").bfs(1)) > 1


@pytest.mark.parametrize(
    "name, hint",
    [("dijkstra", "use shortest_path"), ("connected_components", "use cc"), ("pgr_dijkstra", "use shortest_path"), ("emogi_bfs", "use bfs"),
     ("pagerang", "perhaps pagerank"), ("maximum_flow", "use max_flow"), ("maxFlow", "use max_flow"), ("xyzzy", "the functions are all_shortest_paths")],
)
def test_a_function_that_does_not_exist(db, name, hint):
    follows = db.graph("follows")
    with pytest.raises(AttributeError, match=rf"'Graph' object has no attribute '{name}': {hint}"):
        getattr(follows, name)
    assert not hasattr(follows, "_private")
    assert copy.copy(follows).direction is None


def test_an_attribute_error_within_a_property(db, monkeypatch):
    def break_off(connection):
        raise AttributeError("from within")

    monkeypatch.setattr("emogi._graph.extension_schema", break_off)
    with pytest.raises(AttributeError, match="^from within$"):
        db.graph("follows").schema


@pytest.mark.parametrize("statement, word", [("EXPLAIN SELECT 1", "EXPLAIN"), (" explain (costs off) select 1", "EXPLAIN"), ("SHOW work_mem", "SHOW"), ("INSERT INTO follows VALUES (1, 2) RETURNING src", "INSERT")])
def test_a_statement_that_is_no_query(db, statement, word):
    with pytest.raises(psycopg.ProgrammingError, match=f"fetch takes one SELECT, VALUES or TABLE; for {word} use execute"):
        db.fetch(statement)
    with pytest.raises(psycopg.errors.SyntaxError):
        db.fetch("SELEC 1")
