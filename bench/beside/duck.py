"""DuckDB, in a separate process, with the edges copied into a database in memory."""
import multiprocessing
import threading
import time

import duckdb
import psycopg

from system import ITERATIONS, Late, OF_A_VERTEX, System, hops_of


class InProcess:
    """DuckDB itself. Recursive queries use DuckDB's USING KEY: a table that each round can read and
    overwrite. Ranks use a loop of statements."""

    def __init__(self, table_where, limit, folder):
        self.table_where, self.limit, self.folder = table_where, limit, folder
        self.database = None

    def close(self):
        if self.database:
            self.database.close()

    def load(self, edges):
        self.close()
        began = time.perf_counter()
        self.database = duckdb.connect()
        self.database.execute(f"SET temp_directory = '{self.folder}'")
        file = self.folder / 'edges.csv'
        with psycopg.connect(self.table_where) as table, table.cursor() as source, open(file, 'wb') as out:
            with source.copy('COPY edges (id, src, dst, cost) TO STDOUT (FORMAT csv)') as rows:
                for block in rows:
                    out.write(block)
        self.database.execute('CREATE TABLE edges (id BIGINT, src BIGINT, dst BIGINT, cost DOUBLE)')
        self.database.execute(f"COPY edges FROM '{file}' (FORMAT csv, HEADER false)")
        file.unlink()
        return time.perf_counter() - began

    def statement(self, question, source, target):
        if question == '1 hop':
            return f'SELECT count(*), sum(v) FROM (SELECT {source}::BIGINT AS v UNION SELECT dst FROM edges WHERE src = {source}) r'
        if question in OF_A_VERTEX:
            return f'''WITH RECURSIVE r(v, d) USING KEY (v) AS (SELECT {source}::BIGINT, 0 UNION
                SELECT e.dst, min(r.d) + 1 FROM r JOIN edges e ON e.src = r.v LEFT JOIN recurring.r k ON k.v = e.dst
                WHERE k.v IS NULL AND r.d < {hops_of(question)} GROUP BY e.dst) SELECT count(*), sum(v) FROM r'''
        return {
            'path': f'''WITH RECURSIVE r(v, d) USING KEY (v) AS (SELECT {source}::BIGINT, 0 UNION
                SELECT e.dst, min(r.d) + 1 FROM r JOIN edges e ON e.src = r.v LEFT JOIN recurring.r k ON k.v = e.dst LEFT JOIN recurring.r t ON t.v = {target}
                WHERE k.v IS NULL AND t.v IS NULL GROUP BY e.dst) SELECT max(d) FROM r WHERE v = {target}''',
            'path by cost': f'''WITH RECURSIVE r(v, d) USING KEY (v) AS (SELECT {source}::BIGINT, 0::DOUBLE UNION
                SELECT e.dst, min(r.d + e.cost) FROM r JOIN edges e ON e.src = r.v LEFT JOIN recurring.r k ON k.v = e.dst LEFT JOIN recurring.r t ON t.v = {target}
                WHERE r.d + e.cost < coalesce(k.d, 'inf'::DOUBLE) AND r.d + e.cost < coalesce(t.d, 'inf'::DOUBLE) GROUP BY e.dst) SELECT max(d) FROM r WHERE v = {target}''',
            'components': '''WITH RECURSIVE both_ways(a, b) AS MATERIALIZED (SELECT src, dst FROM edges UNION ALL SELECT dst, src FROM edges),
                c(v, l) USING KEY (v) AS (SELECT v, v FROM (SELECT DISTINCT a AS v FROM both_ways) x UNION
                SELECT e.b, min(c.l) FROM c JOIN both_ways e ON e.a = c.v JOIN recurring.c k ON k.v = e.b WHERE c.l < k.l GROUP BY e.b)
                SELECT count(*) FILTER (WHERE v = l), sum(l) FROM c''',
        }[question]

    def page_rank(self):
        run = self.database.execute
        run('''CREATE OR REPLACE TEMP TABLE rank AS SELECT v, sum(degree)::DOUBLE AS degree, 1.0::DOUBLE / count(*) OVER () AS r
            FROM (SELECT src AS v, count(*) AS degree FROM edges GROUP BY src UNION ALL SELECT DISTINCT dst, 0 FROM edges) x GROUP BY v''')
        for _ in range(ITERATIONS):
            run('''CREATE OR REPLACE TEMP TABLE rank AS SELECT k.v, k.degree, (0.15 + 0.85 * o.lost) / o.n + 0.85 * coalesce(s.r, 0) AS r
                FROM (SELECT count(*) AS n, coalesce(sum(r) FILTER (WHERE degree = 0), 0) AS lost FROM rank) o, rank k
                LEFT JOIN (SELECT e.dst, sum(a.r / a.degree) AS r FROM edges e JOIN rank a ON a.v = e.src GROUP BY e.dst) s ON s.dst = k.v''')
        return run('SELECT count(*), max(r), sum(r * r) FROM rank').fetchone()

    def ask(self, question, source, target):
        alarm = threading.Timer(self.limit, self.database.interrupt)
        alarm.start()
        try:
            if question == 'PageRank':
                return self.page_rank()
            return self.database.execute(self.statement(question, source, target)).fetchone()
        except duckdb.InterruptException:
            raise Late from None
        finally:
            alarm.cancel()

    def change(self, row):
        self.database.execute('INSERT INTO edges VALUES (?, ?, ?, ?)', row)


def serve(pipe, *arguments):
    """Run the requests of a pipe, in the child, until it is closed."""
    here = InProcess(*arguments)
    while True:
        try:
            method, values = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((getattr(here, method)(*values), None))
        except Late:
            pipe.send((None, 'late'))
        except Exception as error:      # returned to the parent, which ends the run
            pipe.send((None, f'{type(error).__name__}: {error}'))


class Duck(System):
    """DuckDB behind a pipe. It does not always react to an interrupt (2.0.1, a recursive query at
    10^7 edges); then the process is killed and restarted."""
    name = 'DuckDB'
    grace_s = 10

    def __init__(self, *arguments):
        self.arguments, self.child, self.edges = arguments, None, None
        self.limit = arguments[1]

    def version(self):
        return f'DuckDB {duckdb.__version__}'

    def begin(self):
        self.close()
        context = multiprocessing.get_context('spawn')
        self.pipe, theirs = context.Pipe()
        self.child = context.Process(target=serve, args=(theirs, *self.arguments), daemon=True)
        self.child.start()
        theirs.close()

    def close(self):
        if self.child:
            self.pipe.close()
            self.child.kill()
            self.child.join()
            self.child = None

    def tell(self, method, *values, within=None):
        """Run a method in the child; raises Late if it was late or did not answer."""
        self.pipe.send((method, values))
        if not self.pipe.poll(within):
            self.load(self.edges)
            raise Late
        answer, wrong = self.pipe.recv()
        if wrong == 'late':
            raise Late
        if wrong:
            raise RuntimeError(f'DuckDB: {wrong}')
        return answer

    def load(self, edges):
        self.begin()
        self.edges = edges
        self.loaded_s = self.tell('load', edges)

    def ask(self, question, source, target):
        return self.tell('ask', question, source, target, within=self.limit + self.grace_s)

    def change(self, row):
        self.tell('change', row)
