"""How far a call has come, asked of emogi_progress on a second connection while the first waits."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

# A call that is done sooner shows nothing, and opens no connection.
SECONDS_BEFORE = 0.3
SECONDS_BETWEEN = 0.2
SECONDS_AT_END = 0.5


@dataclass(frozen=True)
class Progress:
    """A row of the view emogi_progress: the state of a call."""

    function: str
    state: str
    phase: str
    level: int
    done: int
    total: int | None
    waits_for: str | None


class _Bar:
    """A bar of tqdm that shows one phase after the other."""

    def __init__(self, description: str | None):
        from tqdm.auto import tqdm

        self._bar = tqdm(desc=description, unit="", unit_scale=True, leave=False)
        self._name = description or "emogi"
        self._phase: str | None = None

    def __call__(self, progress: Progress) -> None:
        bar = self._bar
        if progress.phase != self._phase:
            self._phase = progress.phase
            bar.reset(total=progress.total)
        bar.total = progress.total
        bar.n = progress.done
        waits = f", waits for {progress.waits_for}" if progress.waits_for else ""
        bar.set_description(f"{self._name}: {progress.phase}, level {progress.level}{waits}", refresh=False)
        bar.refresh()

    def close(self) -> None:
        self._bar.close()


def _second_connection(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """Connect once more as the same user to the same database."""
    parts = {"password": connection.info.password} if connection.info.password else {}
    conninfo = psycopg.conninfo.make_conninfo(connection.info.dsn, application_name="emogi progress", **parts)
    return psycopg.connect(conninfo, autocommit=True)


def _poll(connection: psycopg.Connection[Any], schema: str, pid: int, show: Callable[[Progress], object], done: threading.Event) -> None:
    query = sql.SQL(
        "SELECT function, state, phase, level, done, total, waits_for FROM {}.emogi_progress() WHERE pid = {}"
    ).format(sql.Identifier(schema), sql.Literal(pid))
    with _second_connection(connection) as second:
        while not done.is_set():
            row = second.execute(query).fetchone()
            if row is not None and not done.is_set():
                show(Progress(*row))
            done.wait(SECONDS_BETWEEN)


def extension_schema(connection: psycopg.Connection[Any]) -> str:
    """Get the schema that emogi was created in. An error if it was not."""
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        row = cursor.execute(
            "SELECT nspname FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace n ON n.oid = extnamespace WHERE extname = 'emogi'"
        ).fetchone()
    if row is None:
        raise psycopg.errors.UndefinedObject("extension emogi is not installed in this database: run CREATE EXTENSION emogi")
    return row[0]


@contextlib.contextmanager
def watch(connection: psycopg.Connection[Any], progress: Any, description: str | None) -> Iterator[None]:
    """Show progress while the block runs: True for a bar of tqdm, or a function that is given each Progress."""
    if not progress:
        yield
        return
    schema = extension_schema(connection)
    pid, done = connection.info.backend_pid, threading.Event()
    bar: list[_Bar] = []

    def show(row: Progress) -> None:
        if callable(progress):
            progress(row)
            return
        if not bar:
            bar.append(_Bar(description))
        bar[0](row)

    def follow() -> None:
        # What fails here is the display alone: the call goes on, and tells its own errors.
        if not done.wait(SECONDS_BEFORE):
            with contextlib.suppress(psycopg.Error):
                _poll(connection, schema, pid, show, done)

    thread = threading.Thread(target=follow, name="emogi progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        # A function that takes its time, or a server that does not answer, does not keep the rows waiting.
        thread.join(SECONDS_AT_END)
        for one in bar:
            one.close()
