"""The rows of a result are named tuples, for all that asks a tuple for `_fields`, and print as tuples."""

import copy
import dataclasses
import pickle
import subprocess
import sys

import pandas
import pytest


@pytest.fixture
def rows(db):
    return list(db.graph("follows").bfs(1, max_depth=1))


@dataclasses.dataclass
class Holder:
    row: tuple


def test_a_row_is_a_tuple(rows):
    assert sorted(rows) == [(1, 0), (2, 1), (3, 1)]
    assert repr(rows[0]) == str(rows[0]) == "(1, 0)"
    assert {(1, 0): "a"}[rows[0]] == "a"


def test_a_row_is_a_named_tuple(rows):
    row = rows[0]
    assert row._fields == ("vertex", "level") and (row.vertex, row.level) == (1, 0)
    assert row._asdict() == {"vertex": 1, "level": 0}
    others = type(row)(*row), type(row)(vertex=1, level=0), row._make([1, 0]), row._replace(level=0)
    assert all(other == row and type(other) is type(row) for other in others)
    for make in (lambda: type(row)(1), lambda: type(row)(1, 2, 3), lambda: row._make([1])):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(AttributeError):
        row.other = 1


def test_a_dataclass_with_a_row(rows):
    got = dataclasses.asdict(Holder(rows[0]))["row"]
    assert got == (1, 0) and got._fields == ("vertex", "level")
    assert dataclasses.astuple(Holder(rows[0])) == ((1, 0),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_copies_of_a_row(rows, protocol):
    row = rows[0]
    for other in (copy.copy(row), copy.deepcopy(row), pickle.loads(pickle.dumps(row, protocol))):
        assert other == row and type(other) is type(row)


def test_a_pickled_row_in_another_process(rows):
    program = "import pickle, sys; rows = pickle.load(sys.stdin.buffer); print(rows, rows[0]._asdict())"
    done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(rows[:1]), stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().strip() == "[(1, 0)] {'vertex': 1, 'level': 0}"


def test_rows_of_the_same_columns_have_one_class(db):
    follows = db.graph("follows")
    result = follows.bfs(1)
    assert len({type(row) for each in (result, result, follows.bfs(2)) for row in each}) == 1
    assert type(next(iter(follows.bfs(1, select="level")))) is not type(next(iter(result)))


def test_rows_have_names_for_pandas(db):
    result = db.graph("follows").bfs(1)
    frame = pandas.DataFrame(result)
    assert list(frame.columns) == ["vertex", "level"]
    pandas.testing.assert_frame_equal(frame, result.pandas(), check_dtype=False)
    assert list(pandas.DataFrame(list(result)).columns) == ["vertex", "level"]
    assert list(pandas.DataFrame(db.fetch('SELECT 1 AS "a b", 2 AS "class"')).columns) == ["a b", "class"]


# Ligatures and letters such as the Kelvin sign are equal to others in names of Python.
NAMES = ["a b", "class", "count", "_2", "_1", "_make", "__class__", "__deepcopy__", "\ufb01", "fi", "größe", "x): pass", "?column?"]


def test_names_that_are_no_names_of_python(db):
    result = db.fetch("SELECT " + ", ".join(f'{at} AS "{name}"' for at, name in enumerate(NAMES)).replace("%", "%%"))
    row, wanted = next(iter(result)), tuple(range(len(NAMES)))
    assert row._fields == tuple(NAMES) == tuple(pandas.DataFrame(result).columns)
    assert row == type(row)(*wanted) == row._make(wanted) == wanted
    assert row._asdict() == dict(zip(NAMES, wanted))
    assert [getattr(row, name) for name in NAMES if name != "_make" and not name.startswith("__")] == [0, 1, 2, 3, 4, 8, 9, 10, 11, 12]
    changed = row._replace(**{"a b": 5, "_1": 6})
    assert type(changed) is type(row) and changed[:5] == (5, 1, 2, 3, 6)
    assert type(copy.deepcopy(row)) is type(pickle.loads(pickle.dumps(row))) is type(row)
    assert dataclasses.asdict(Holder(row))["row"] == wanted
    with pytest.raises(TypeError):
        row._replace(other=1)
