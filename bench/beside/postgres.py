"""The systems that read the table itself, in the server with emogi: emogi, plain SQL, pgRouting."""
import pathlib

import psycopg

from system import ITERATIONS, Late, OF_A_VERTEX, QUESTIONS, System, hops_of


def connect(where, limit):
    """Get a session with a statement timeout of limit seconds. Statements are planned each time, with literals."""
    session = psycopg.connect(where, autocommit=True, prepare_threshold=None)
    session.execute(f'SET statement_timeout = {int(1000 * limit)}')
    return session


def first_row(session, statement):
    """Get the first row of a statement, or () if there is none; raises Late if the limit is exceeded."""
    try:
        return session.execute(statement).fetchone() or ()
    except psycopg.errors.QueryCanceled:
        raise Late from None


class OfTheTable(System):
    """A system that reads the table in place. All of them see the same change, so course.py makes it once."""

    def __init__(self, where, limit):
        self.session = connect(where, limit)

    def close(self):
        self.session.close()

    def ask(self, question, source, target):
        return tuple(first_row(self.session, self.statement(question, source, target)))


class Emogi(OfTheTable):
    name = 'emogi'
    keeps = True

    def version(self):
        return 'emogi ' + self.session.execute('SELECT emogi_version()').fetchone()[0]

    def statement(self, question, source, target):
        if question in OF_A_VERTEX:
            return f"SELECT count(*), sum(vertex) FROM emogi_bfs('edges(src, dst)', {source}, max_depth => {hops_of(question)})"
        return {
            'path': f"SELECT max(distance) FROM emogi_shortest_path('edges(src, dst)', {source}, {target})",
            'path by cost': f"SELECT max(distance) FROM emogi_shortest_path('edges(src, dst, cost)', {source}, {target})",
            'components': "SELECT count(*) FILTER (WHERE vertex = component), sum(component) FROM emogi_cc('edges(src, dst)')",
            'PageRank': f"SELECT count(*), max(rank), sum(rank * rank) FROM emogi_pagerank('edges(src, dst)', max_iterations => {ITERATIONS}, tolerance => 0)",
        }[question]

    def prepare(self, question, source, target):
        """Build the graph, without a time limit. A call with few hops would use the index instead and build none."""
        with self.session.transaction():
            self.session.execute('SET LOCAL emogi.enable_index_search = off')
            self.session.execute('SET LOCAL statement_timeout = 0')
            self.session.execute(self.statement(question, source, target))

    def cool(self):
        self.session.execute("SELECT emogi_evict('edges')")

    def how(self):
        row = self.session.execute('SELECT cache FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1').fetchone()
        return row[0] if row and row[0] else ''


class Sql(OfTheTable):
    """A join for one hop, recursive queries for more hops and for paths, loops (loops.sql) for the
    rest. Indexes: on src including dst and cost, and on dst."""
    name = 'SQL'

    def version(self):
        return 'PostgreSQL ' + self.session.execute('SHOW server_version').fetchone()[0].split()[0]

    def load(self, edges):
        if not self.session.execute("SELECT count(*) FROM pg_proc WHERE proname = 'loop_path'").fetchone()[0]:
            self.session.execute(pathlib.Path(__file__).with_name('loops.sql').read_text())

    def statement(self, question, source, target):
        if question == '1 hop':
            return f'SELECT count(*), sum(v) FROM (SELECT {source}::bigint AS v UNION SELECT dst FROM edges WHERE src = {source}) r'
        if question in OF_A_VERTEX:
            return (f'WITH RECURSIVE r(v, d) AS (SELECT {source}::bigint, 0 UNION SELECT e.dst, r.d + 1 FROM r JOIN edges e ON e.src = r.v WHERE r.d < {hops_of(question)}) '
                    'SELECT count(*), sum(v) FROM (SELECT DISTINCT v FROM r) x')
        return {
            # LIMIT ends the recursion at the level of the target; paths longer than 30 are reported
            # as missing
            'path': f'WITH RECURSIVE r(v, d) AS (SELECT {source}::bigint, 0 UNION SELECT e.dst, r.d + 1 FROM r JOIN edges e ON e.src = r.v WHERE r.d < 30) '
                    f'SELECT (SELECT d FROM r WHERE v = {target} LIMIT 1)',
            'path by cost': f'SELECT loop_path({source}, {target})',
            'components': 'SELECT * FROM loop_components()',
            'PageRank': f'SELECT * FROM loop_pagerank({ITERATIONS})',
        }[question]

    def ask(self, question, source, target):
        try:
            return super().ask(question, source, target)
        except Late:
            self.session.execute('DISCARD TEMP')
            raise


class PgRouting(OfTheTable):
    """pgRouting, whose functions run a query of all edges in each call."""
    name = 'pgRouting'
    questions = QUESTIONS[:-1]

    def version(self):
        return 'pgRouting ' + self.session.execute('SELECT pgr_version()').fetchone()[0]

    def statement(self, question, source, target):
        edges = "'SELECT id, src AS source, dst AS target, {} AS cost FROM edges'"
        alike, by_cost = edges.format('1::float8'), edges.format('cost')
        if question in OF_A_VERTEX:
            return f'SELECT count(*), sum(node) FROM pgr_breadthFirstSearch({alike}, {source}, max_depth => {hops_of(question)})'
        return {
            'path': f'SELECT max(agg_cost) FROM pgr_dijkstra({alike}, {source}, {target})',
            'path by cost': f'SELECT max(agg_cost) FROM pgr_dijkstra({by_cost}, {source}, {target})',
            'components': f'SELECT count(*) FILTER (WHERE node = component), sum(component) FROM pgr_connectedComponents({alike})',
        }[question]
