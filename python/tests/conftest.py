"""The server of the tests is the one that libpq's environment names. Each test has a schema of its own, first in the search path."""

import itertools

import pytest

import emogi

NUMBERS = itertools.count()


@pytest.fixture
def empty_schema(monkeypatch):
    """Make a schema that all connections of the test begin in."""
    name = f"python_test_{next(NUMBERS)}"
    with emogi.connect() as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
        connection.execute(f"CREATE SCHEMA {name}")
        monkeypatch.setenv("PGOPTIONS", f"-c search_path={name},public")
        yield name
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def db(empty_schema):
    """A connection with the table of the manual."""
    with emogi.connect() as connection:
        connection.execute("CREATE TABLE follows (src bigint, dst bigint)")
        connection.execute("INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1)")
        yield connection
