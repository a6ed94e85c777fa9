"""What comes back: types, NULLs, chunks, and the three forms of a result."""

import datetime
import decimal
import uuid

import numpy as np
import psycopg
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


@pytest.mark.parametrize("chunk_rows", [1, 7, 50, 262_144])
def test_every_type(db, monkeypatch, chunk_rows):
    monkeypatch.setattr(_fetch, "CHUNK_ROWS", chunk_rows)
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
    monkeypatch.setattr(_fetch, "CHUNK_ROWS", 100)
    result = db.fetch("SELECT i FROM generate_series(1, 100000) AS i ORDER BY i DESC")
    assert (result["i"] == np.arange(100000, 0, -1)).all()


def test_many_rows_of_a_call(db):
    """More than one chunk, and more than work_mem: they are as plain SQL has them."""
    db.execute("CREATE TABLE chain AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 600000) AS i")
    db.execute("SET work_mem = '64kB'")
    result = db.graph("chain").bfs(1)
    assert (result["vertex"] == np.arange(1, 600002)).all() and (result["level"] == np.arange(600001)).all()


def test_chunks_whose_rows_come_in_another_order(db, monkeypatch):
    """Without hashing the server sorts by chunk, which may turn rows around: they come back in order, NULLs and texts with them."""
    monkeypatch.setattr(_fetch, "CHUNK_ROWS", 5000)
    db.execute("SET enable_hashagg = off")
    db.execute("SET work_mem = '64kB'")
    query = "SELECT i, CASE WHEN i % 3 <> 0 THEN repeat('ä', i % 5) || i END AS t, CASE WHEN i % 2 = 0 THEN i END AS n FROM generate_series(1, 20000) AS i"
    rows = [(i, "ä" * (i % 5) + str(i) if i % 3 else None, None if i % 2 else i) for i in range(1, 20001)]
    assert list(db.fetch(query)) == rows
    order = np.random.default_rng(1).permutation(20000)
    for column in db.fetch(query).columns.values():
        lengths = None if column.offsets is None else np.diff(column.offsets)
        values, lengths, valid = _fetch.reorder((column.values, lengths, column.valid), order)
        turned = _fetch.Plan(column.name, column.type).join([(values, lengths, valid)])
        assert turned.numpy().tolist() == column.numpy()[order].tolist()


def test_parameters_of_a_query(db):
    nasty = "'; DROP TABLE follows; -- {} %s \\"
    assert list(db.fetch("SELECT %s AS a, %s::int AS b, '100%%' AS c", [nasty, None])) == [(nasty, None, "100%")]
    assert list(db.fetch("SELECT %(x)s + 1 AS y", {"x": 41})) == [(42,)]
    assert list(db.fetch("SELECT '{}' AS braces, '%' AS percent;")) == [("{}", "%")]


def test_queries_that_cannot_be_read(db):
    with pytest.raises(psycopg.ProgrammingError, match="same name"):
        db.fetch("SELECT 1 AS a, 2 AS a")
    with pytest.raises(psycopg.Error):
        db.fetch("DELETE FROM follows")
    assert list(emogi.fetch(db, "SELECT count(*) AS n FROM follows")) == [(6,)]


def test_names_that_are_odd(db):
    result = db.fetch('SELECT 1 AS "a ""b", 2 AS n, 3 AS q, 4 AS "emogi chunk2"')
    assert list(result) == [(1, 2, 3, 4)]


def test_what_is_no_array_is_refused():
    good = bytes.fromhex("00000001" "00000000" "00000014" "00000002" "00000001" + "0000000800000000000000010000000800000000000000ff")
    eight = np.dtype(">i8")
    assert _fetch.read_array(memoryview(good), eight, np.dtype("i8")).tolist() == [1, 255]
    for bad in (good[:3] + b"\2" + good[4:], good[:7] + b"\1" + good[8:], good[:23] + b"\4" + good[24:], good[:15] + b"\3" + good[16:]):
        with pytest.raises(psycopg.DataError):
            _fetch.read_array(memoryview(bad), eight, np.dtype("i8"))
