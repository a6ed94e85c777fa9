"""What comes back: types, NULLs, chunks, and the three forms of a result."""

import copy
import datetime
import decimal
import os
import pickle
import subprocess
import sys
import uuid

import numpy as np
import polars
import psycopg
import pyarrow
import pytest

import emogi
from emogi import _fetch

EVERY_TYPE = """
SELECT i, i::smallint AS int2, i::int AS int4, CASE WHEN i % 3 <> 0 THEN (i * 5000000000)::bigint END AS int8, i::oid AS oid,
       (i / 2.0)::real AS float4, CASE WHEN i % 4 <> 0 THEN i / 3.0::float8 END AS float8, CASE WHEN i % 5 <> 0 THEN i % 2 = 0 END AS bool,
       CASE WHEN i % 7 <> 0 THEN 'ä' || repeat('x', i % 4) END AS text, ('00000000-0000-0000-0000-00000000' || to_char(i, 'FM0000'))::uuid AS uuid,
       date '1999-12-31' + i AS day, timestamp '2001-02-03 04:05:06.789' + i * interval '1 second' AS at,
       timestamptz '2001-02-03 04:05:06+02' + i * interval '1 second' AS atz, (i * 1.50)::numeric AS number,
       CASE WHEN i % 2 = 0 THEN decode(lpad(to_hex(i), 8, '0'), 'hex') END AS bytes, ARRAY[i, i + 1] AS list
FROM generate_series({}, {}) AS i
"""


def expected(i):
    moment = datetime.datetime(2001, 2, 3, 2, 5, 6) + datetime.timedelta(seconds=i)
    return {
        "i": i, "int2": i, "int4": i, "int8": i * 5000000000 if i % 3 else None, "oid": i,
        "float4": i / 2, "float8": i / 3.0 if i % 4 else None, "bool": i % 2 == 0 if i % 5 else None,
        "text": "ä" + "x" * (i % 4) if i % 7 else None, "uuid": uuid.UUID(f"00000000-0000-0000-0000-00000000{i:04}"),
        "day": datetime.date(1999, 12, 31) + datetime.timedelta(days=i),
        "at": datetime.datetime(2001, 2, 3, 4, 5, 6, 789000) + datetime.timedelta(seconds=i), "atz": moment,
        "number": decimal.Decimal(i * 150) / 100, "bytes": i.to_bytes(4, "big") if i % 2 == 0 else None, "list": f"{{{i},{i + 1}}}",
    }


@pytest.mark.parametrize("block_rows", [1, 7, 50, 262_144])
def test_every_type(db, monkeypatch, block_rows):
    monkeypatch.setattr(_fetch, "BLOCK_ROWS", block_rows)
    result = db.fetch(EVERY_TYPE.format(1, 50))
    rows = [dict(zip(result.keys(), row)) for row in result]
    assert rows == [expected(i) for i in range(1, 51)]
    types = {name: result[name].dtype for name in ("int2", "int4", "int8", "float4", "float8", "bool")}
    assert types == {"int2": np.int16, "int4": np.int32, "int8": np.int64, "float4": np.float32, "float8": np.float64, "bool": np.bool_}
    arrow = result.arrow()
    arrow.validate(full=True)
    for row, wanted in zip(arrow.to_pylist(), [expected(i) for i in range(1, 51)]):
        wanted["atz"] = wanted["atz"].replace(tzinfo=datetime.timezone.utc)
        got = {**row, "atz": row["atz"].astimezone(datetime.timezone.utc)}
        assert got == wanted
    frame = result.pandas()
    assert [str(frame[name].dtype) for name in ("int4", "int8", "float8", "bool")] == ["int32", "Int64", "Float64", "boolean"]
    for name in ("int8", "float8", "bool", "text", "bytes"):
        assert frame[name].isna().tolist() == [expected(i)[name] is None for i in range(1, 51)]
    assert str(frame["atz"].dt.tz) == "UTC"


def test_no_rows_have_types_all_the_same(db):
    result = db.fetch(EVERY_TYPE.format(1, 0))
    assert len(result) == 0 and list(result) == []
    assert result["int8"].dtype == np.int64 and result["float4"].dtype == np.float32
    assert result.arrow().num_rows == 0
    assert len(result.pandas()) == 0
    result.numpy()


def test_all_null(db):
    result = db.fetch("SELECT NULL::bigint AS a, NULL::text AS b, NULL::uuid AS c FROM generate_series(1, 3)")
    assert list(result) == [(None, None, None)] * 3
    assert result.columns["a"].null_count == result.columns["b"].null_count == 3
    assert result.arrow().to_pylist() == [{"a": None, "b": None, "c": None}] * 3


def test_a_structured_array(db):
    result = db.graph("follows").bfs(1)
    array = result.numpy()
    assert array.dtype.names == ("vertex", "level") and array["level"].tolist() == [0, 1, 1, 2, 3]
    assert not isinstance(array, np.ma.MaskedArray)
    tree = db.graph("follows").bfs_tree(1, select=["vertex", "predecessor"]).numpy()
    assert tree["predecessor"].tolist() == [None, 1, 1, 2, 4]


def test_infinite_and_nan(db):
    values = db.fetch("SELECT unnest(ARRAY['Infinity', '-Infinity', 'NaN', '0']::float8[]) AS x, unnest(ARRAY['infinity', 'today', NULL, 'epoch']::date[]) AS d")
    assert values["x"].tolist()[:2] == [float("inf"), float("-inf")] and np.isnan(values["x"][2]) and values.columns["x"].valid is None
    assert np.isnat(values["d"]).tolist() == [True, False, True, False]


def test_order_is_that_of_the_query(db, monkeypatch):
    monkeypatch.setattr(_fetch, "BLOCK_ROWS", 100)
    result = db.fetch("SELECT i FROM generate_series(1, 100000) AS i ORDER BY i DESC")
    assert (result["i"] == np.arange(100000, 0, -1)).all()


def test_many_rows_of_a_call(db):
    """More than one block, and more than work_mem: they are as plain SQL has them."""
    db.execute("CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 600000) AS i")
    db.execute("SET work_mem = '64kB'")
    result = db.graph("chain").bfs(1)
    assert (result["vertex"] == np.arange(1, 600002)).all() and (result["level"] == np.arange(600001)).all()


@pytest.mark.parametrize("long", [1, 300])
def test_texts_short_long_empty_and_null(db, monkeypatch, long):
    """Short values are chosen byte by byte and long ones copied, across blocks that end anywhere."""
    monkeypatch.setattr(_fetch, "BLOCK_BYTES", 10_000)
    query = f"SELECT i, CASE WHEN i % 3 <> 0 THEN repeat('ä', i % 5 * {long}) END AS t, CASE WHEN i % 2 = 0 THEN i END AS n FROM generate_series(1, 20000) AS i"
    assert list(db.fetch(query)) == [(i, "ä" * (i % 5 * long) if i % 3 else None, None if i % 2 else i) for i in range(1, 20001)]


def test_a_block_is_no_limit(db):
    """All values of a column are more than one field of PostgreSQL can be, 1 GB, when they are put together; one row is more than a block."""
    column = db.fetch("SELECT repeat('x', 5000000) AS t FROM generate_series(1, 220)").columns["t"]
    assert column.offsets[-1] == 1_100_000_000 and len(column) == 220


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_an_encoding_of_the_connection(db, encoding):
    db.execute(f"SET client_encoding = '{encoding}'")
    assert list(db.fetch("SELECT U&'\\00e4' AS a, NULL::text AS b")) == [("ä", None)]


def test_an_error_among_the_rows(db):
    with pytest.raises(psycopg.errors.DivisionByZero):
        db.fetch("SELECT 1 / (900000 - i) AS x FROM generate_series(1, 1000000) AS i")
    assert list(db.fetch("SELECT 1 AS a")) == [(1,)]
    db.execute("BEGIN")
    with pytest.raises(psycopg.errors.DivisionByZero):
        db.fetch("SELECT 1 / (9000 - i) AS x FROM generate_series(1, 10000) AS i")
    db.rollback()
    assert list(db.fetch("SELECT 1 AS a")) == [(1,)]


def test_a_query_that_ends_in_a_comment(db):
    assert list(db.fetch("SELECT 1 AS a -- one")) == [(1,)]
    assert list(db.fetch("SELECT 1 AS a; ")) == [(1,)]


def test_parameters_of_a_query(db):
    nasty = "'; DROP TABLE follows; -- {} %s \\"
    assert list(db.fetch("SELECT %s AS a, %s::int AS b, '100%%' AS c", [nasty, None])) == [(nasty, None, "100%")]
    assert list(db.fetch("SELECT %(x)s + 1 AS y", {"x": 41})) == [(42,)]
    assert list(db.fetch("SELECT '{}' AS braces, '%' AS percent;")) == [("{}", "%")]


def test_queries_that_cannot_be_read(db):
    with pytest.raises(psycopg.ProgrammingError, match="same name"):
        db.fetch("SELECT 1 AS a, 2 AS a")
    for statement in ("DELETE FROM follows", "INSERT INTO follows VALUES (7, 7) RETURNING src", "SHOW work_mem", "EXPLAIN SELECT 1"):
        with pytest.raises(psycopg.Error) as caught:
            db.fetch(statement)
        assert "execute" in "".join(getattr(caught.value, "__notes__", ["execute"]))
    assert list(emogi.fetch(db, "SELECT count(*) AS n FROM follows")) == [(6,)]


def test_names_that_are_odd(db):
    result = db.fetch('SELECT 1 AS "a ""b", 2 AS n, 3 AS q, 4 AS "emogi row"')
    assert list(result) == [(1, 2, 3, 4)]


def test_what_is_no_copy_is_refused():
    plans = [_fetch.Plan("a", "bigint"), _fetch.Plan("b", "text")]
    row = bytes.fromhex("0002" "00000008" "00000000000000ff" "00000002" "7879")
    values, text = _fetch.take_apart(bytearray(row * 2), [20, 20], plans)
    assert values[0].tolist() == [255, 255] and text[0].tobytes() == b"xyxy" and text[1].tolist() == [2, 2]
    for bad in (b"\0\3" + row[2:], row[:5] + b"\4" + row[6:], row[:17] + b"\7" + row[18:], row[:17] + b"\1" + row[18:]):
        with pytest.raises(psycopg.DataError):
            _fetch.take_apart(bytearray(bad + row), [20, 20], plans)
    with pytest.raises(psycopg.DataError):
        _fetch._drop_head(bytearray(b"PGCOPX" + bytes(30)), [36])
    with pytest.raises(psycopg.DataError):
        _fetch._drop_end(bytearray(row), [20])


def test_columns_of_a_result(db):
    result = db.graph("follows").bfs(1)
    assert result[["level"]].keys() == ["level"] and len(result[["level"]]) == len(result)
    for wrong in ("node", 0, ["vertex", "node"]):
        with pytest.raises(KeyError, match="columns are vertex, level"):
            result[wrong]


# Run with the polars of the environment, and with an older one if EMOGI_OLD_POLARS names a folder that has it.
POLARS = """
import sys, emogi, polars
with emogi.connect() as db:
    result = db.fetch(sys.argv[1])
    frame = result.polars()
    assert isinstance(frame, polars.DataFrame), type(frame)
    if int(polars.__version__.split(".")[0]) >= 2:
        assert frame.equals(polars.DataFrame(result))
    assert db.fetch(sys.argv[1] + " LIMIT 0").polars().schema == frame.schema
    print(polars.__version__, frame.columns, [str(kind) for kind in frame.dtypes], frame.rows())
"""
OLD_POLARS = os.environ.get("EMOGI_OLD_POLARS")


@pytest.mark.parametrize("folder", [None, OLD_POLARS] if OLD_POLARS else [None])
def test_a_frame_of_polars(db, folder):
    query = "SELECT i, CASE i WHEN 1 THEN 0.5::float8 END AS f, CASE i WHEN 2 THEN 'ä' END AS t, i = 1 AS b, date '2026-01-02' AS d, '61616161-6161-6161-6161-616161616161'::uuid AS u FROM generate_series(1, 2) i"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder or "", os.environ.get("PYTHONPATH", "")])}
    out = subprocess.run([sys.executable, "-c", POLARS, query], env=environment, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    version, rest = out.stdout.strip().split(" ", 1)
    day, text = "datetime.date(2026, 1, 2)", b"a" * 16
    assert rest == f"['i', 'f', 't', 'b', 'd', 'u'] ['Int32', 'Float64', 'String', 'Boolean', 'Date', 'Binary'] [(1, 0.5, None, True, {day}, {text}), (2, None, 'ä', False, {day}, {text})]"
    if folder:
        assert version != polars.__version__


@pytest.mark.parametrize(("name", "hint"), [("to_pandas", "use pandas()"), ("df", "use pandas()"), ("to_polars", "use polars()"), ("fetchall", "use list(result)"), ("a", "result['a']"),
                                            ("nothing", "it has numpy(), pandas(), polars() and arrow(), and its columns are result['a'], result['b']"), ("_nothing", "no attribute '_nothing'")])
def test_an_attribute_that_is_not_there(db, name, hint):
    result = db.fetch("SELECT 1 AS a, 2 AS b")
    with pytest.raises(AttributeError) as error:
        getattr(result, name)
    assert hint in str(error.value)
    assert not hasattr(result, name)
    assert list(copy.deepcopy(result)) == list(pickle.loads(pickle.dumps(result))) == [(1, 2)]


def test_a_stream_of_arrow(db):
    result = db.graph("follows").bfs(1)
    reader = pyarrow.RecordBatchReader.from_stream(result)
    assert reader.read_all().to_pylist() == [{"vertex": vertex, "level": level} for vertex, level in result]


@pytest.mark.parametrize("value", ["NaN", "Infinity"])
def test_numbers_that_arrow_has_not(db, value):
    result = db.fetch(f"SELECT unnest(ARRAY[1.5, '{value}', NULL]::numeric[]) AS n")
    assert str(result["n"][1]) == value and result["n"][2] is None
    with pytest.raises(ValueError, match="cast it"):
        result.arrow()


@pytest.mark.parametrize("value", ["date '20000-01-01'", "date '0044-03-15 BC'", "timestamp '20000-01-01'"])
def test_dates_that_python_has_not(db, value):
    result = db.fetch(f"SELECT {value} AS d")
    assert str(result["d"][0])[:5] in ("20000", "-043-", "-0043")
    with pytest.raises(OverflowError, match="take them as numpy"):
        list(result)
