"""Apache AGE, in a separate server, into which the edges are copied as a graph."""
import time

import psycopg

from postgres import connect, first_row
from system import Late, OF_A_VERTEX, System, hops_of

GRAPH = 'beside'


class Age(System):
    """AGE caches the graph of variable-length patterns and of shortest_path per session until a
    change. It supports neither shortest paths by cost nor functions of the whole graph."""
    name = 'AGE'
    keeps = True
    questions = OF_A_VERTEX + ('path',)

    def __init__(self, where, table_where, limit, most_edges):
        self.where, self.table_where, self.limit, self.most_edges = where, table_where, limit, most_edges
        self.session = None
        self.begin()
        self.has_paths = self.session.execute("SELECT count(*) > 0 FROM pg_proc WHERE proname = 'age_shortest_path'").fetchone()[0]
        if not self.has_paths:
            self.questions = OF_A_VERTEX

    def begin(self):
        """Start a new session, which has no cached graph."""
        if self.session:
            self.session.close()
        self.session = connect(self.where, self.limit)
        for statement in ('SET client_min_messages = error', 'CREATE EXTENSION IF NOT EXISTS age', "LOAD 'age'", 'SET search_path = ag_catalog, public'):
            self.session.execute(statement)

    def close(self):
        self.session.close()

    def version(self):
        server = self.session.execute('SHOW server_version').fetchone()[0].split()[0]
        return 'AGE ' + self.session.execute("SELECT extversion FROM pg_extension WHERE extname = 'age'").fetchone()[0] + f' in PostgreSQL {server}'

    def load(self, edges):
        began = time.perf_counter()
        run = self.session.execute
        run('SET statement_timeout = 0')
        if run(f"SELECT count(*) FROM ag_graph WHERE name = '{GRAPH}'").fetchone()[0]:
            run(f"SELECT drop_graph('{GRAPH}', true)")
        run('DROP TABLE IF EXISTS public.edges')
        run('CREATE UNLOGGED TABLE public.edges (id bigint, src bigint, dst bigint, cost float8)')
        with psycopg.connect(self.table_where) as table, table.cursor() as source, self.session.cursor() as target:
            with source.copy('COPY edges (id, src, dst, cost) TO STDOUT (FORMAT binary)') as rows, \
                    target.copy('COPY public.edges FROM STDIN (FORMAT binary)') as copy:
                for block in rows:
                    copy.write(block)
        run(f"SELECT create_graph('{GRAPH}')")
        run(f"SELECT create_vlabel('{GRAPH}', 'v')")
        run(f"SELECT create_elabel('{GRAPH}', 'e')")
        v, e = (f"_label_id('{GRAPH}', '{label}')" for label in 've')
        for name, in run(f"SELECT indexname FROM pg_indexes WHERE schemaname = '{GRAPH}' AND tablename = 'e'").fetchall():
            run(f'DROP INDEX {GRAPH}.{name}')
        run(f"""INSERT INTO {GRAPH}.v (id, properties) SELECT _graphid({v}, v + 1), ('{{"id": ' || v || '}}')::agtype
            FROM (SELECT src AS v FROM public.edges UNION SELECT dst FROM public.edges) x""")
        run(f"""INSERT INTO {GRAPH}.e (id, start_id, end_id, properties) SELECT _graphid({e}, id), _graphid({v}, src + 1), _graphid({v}, dst + 1),
            ('{{"cost": ' || cost || '}}')::agtype FROM public.edges""")
        run(f"SELECT setval('{GRAPH}.e_id_seq', (SELECT max(id) FROM public.edges))")
        run(f"""CREATE INDEX ON {GRAPH}.v (agtype_access_operator(VARIADIC ARRAY[properties, '"id"'::agtype]))""")
        for column in ('start_id', 'end_id'):
            run(f'CREATE INDEX ON {GRAPH}.e ({column})')
        run('DROP TABLE public.edges')
        run(f'VACUUM ANALYZE {GRAPH}.v')
        run(f'VACUUM ANALYZE {GRAPH}.e')
        self.loaded_s = time.perf_counter() - began
        self.begin()
        self.warm_up()

    def warm_up(self):
        """Load the graph into the session's cache, without a time limit."""
        self.session.execute('SET statement_timeout = 0')
        self.session.execute(self.cypher('MATCH (a:v)-[:e*2..2]->(b:v) WHERE a.id = 0 RETURN b.id LIMIT 1'))
        self.session.execute(f'SET statement_timeout = {int(1000 * self.limit)}')

    def cypher(self, pattern):
        """Get the SQL of a pattern with one result x."""
        return f"SELECT x FROM cypher('{GRAPH}', $$ {pattern} $$) AS (x agtype)"

    def ask(self, question, source, target):
        try:
            return self.answer(question, source, target)
        except Late:
            # a session interrupted while loading the graph keeps a part of it and returns wrong answers (1.8.0)
            self.begin()
            self.warm_up()
            raise

    def answer(self, question, source, target):
        if question == 'path':
            row = first_row(self.session, self.cypher(f"MATCH (a:v), (b:v) WHERE a.id = {source} AND b.id = {target} RETURN length(shortest_path(a, b, 'e', 'out'))"))
            return (float(row[0]),) if row else (None,)
        if question == '1 hop':
            found = self.cypher(f'MATCH (a:v)-[:e]->(b:v) WHERE a.id = {source} RETURN DISTINCT b.id')
            found = f'SELECT x::text::bigint AS v FROM ({found}) f UNION SELECT {source}'
        else:
            found = f"SELECT x::text::bigint AS v FROM ({self.cypher(f'MATCH (a:v)-[:e*0..{hops_of(question)}]->(b:v) WHERE a.id = {source} RETURN DISTINCT b.id')}) f"
        return tuple(first_row(self.session, f'SELECT count(*), sum(v) FROM ({found}) r'))

    def change(self, row):
        _, src, dst, cost = row
        self.session.execute(self.cypher(f'MATCH (a:v), (b:v) WHERE a.id = {src} AND b.id = {dst} CREATE (a)-[:e {{cost: {cost}}}]->(b)'))

    def prepare(self, question, source, target):
        self.warm_up()

    def cool(self):
        self.begin()
