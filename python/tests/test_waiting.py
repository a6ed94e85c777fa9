"""Progress, and Ctrl-C: a call that takes long is watched and given up."""

import os
import signal
import threading
import time

import psycopg
import pytest

import emogi


@pytest.fixture
def slow(db):
    """A graph on which betweenness takes minutes."""
    db.execute("SELECT setseed(0.5)")
    db.execute("CREATE TABLE slow AS SELECT (random() * 60000)::int AS src, (random() * 60000)::int AS dst FROM generate_series(1, 300000)")
    return db.graph("slow")


def interrupt_when(seen):
    """Send what Ctrl-C sends once the event is set."""

    def wait():
        if seen.wait(60):
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()


@pytest.mark.parametrize("transaction", [False, True])
def test_ctrl_c_cancels_the_call(slow, transaction):
    rows, seen = [], threading.Event()

    def note(progress):
        rows.append(progress)
        if progress.phase == "run":
            seen.set()

    interrupt_when(seen)
    began = time.monotonic()
    if transaction:
        slow.connection.execute("BEGIN")
    with pytest.raises(KeyboardInterrupt):
        slow.betweenness(progress=note)
    assert time.monotonic() - began < 50
    assert all(isinstance(row, emogi.Progress) and row.function == "emogi_betweenness" for row in rows)
    if transaction:
        slow.connection.rollback()
    assert list(slow.connection.graph("follows").bfs(5)) == [(5, 0)]
    # The engine sees between two steps that it was canceled.
    for _ in range(100):
        left = slow.connection.execute("SELECT function, phase FROM emogi_progress WHERE pid = pg_backend_pid()").fetchall()
        if not left:
            break
        time.sleep(0.1)
    assert left == []


def test_a_bar_is_shown(slow, capsys):
    result = slow.betweenness(samples=150, progress=True)
    assert len(result) > 50000
    assert "emogi_betweenness: " in capsys.readouterr().err


def test_short_calls_open_no_connection(db):
    seen = []
    db.graph("follows", progress=seen.append).bfs(1)
    assert seen == []


def test_errors_come_through_while_watched(db):
    with pytest.raises(psycopg.Error):
        db.graph("nowhere", progress=True).cc()


def test_statement_timeout(slow):
    slow.connection.execute("SET statement_timeout = '200ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        slow.betweenness(progress=True)
    slow.connection.execute("RESET statement_timeout")
    assert list(slow.connection.graph("follows").bfs(5)) == [(5, 0)]


def test_a_function_that_takes_its_time(slow):
    asleep, awake = threading.Event(), threading.Event()

    def sleep(progress):
        asleep.set()
        awake.wait(60)

    began = time.monotonic()
    slow.betweenness(samples=150, progress=sleep)
    assert asleep.is_set() and time.monotonic() - began < 50
    awake.set()
