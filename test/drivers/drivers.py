#!/usr/bin/env python3
"""Test the drivers of Python with every type of argument that they pass: drivers.py SOCKET_FOLDER PORT USER

Each line is one call; the last line is "drivers.py: P passed, F failed".
"""
import asyncio
import sys

FOLDER, PORT, USER = sys.argv[1], int(sys.argv[2]), sys.argv[3]
passed = failed = 0

# The edges are 1 -> 2 -> 7 and 42 -> 5. Expected vertices by source:
FROM_42 = [5, 42]
FROM_BOTH = [1, 2, 5, 7, 42]
# (source argument, expected vertices)
SOURCES = [(42, FROM_42), ('42', FROM_42), (None, []), ([1, 42], FROM_BOTH), ('{1,42}', FROM_BOTH), ([1, None, 42], FROM_BOTH),
           (2**40, []), ('{}', [])]


def check(driver, case, call, expected):
    """Count whether a call returns the expected vertices."""
    global passed, failed
    try:
        result = call()
    except Exception as error:
        result = f'{type(error).__name__}: {error}'.splitlines()[0]
    ok = result == expected
    passed, failed = passed + ok, failed + (not ok)
    print(f"    {driver:28} {case:52} {'ok' if ok else 'FAILED: %r' % (result,)}")


def vertices(rows):
    """A source passed as text returns vertices as text."""
    return sorted(int(row[0]) for row in rows)


def check_dbapi(driver, execute, mark='%s', sources=SOURCES):
    """Test a driver with placeholders; execute(sql, parameters) returns rows."""
    def run(sql, *parameters):
        return lambda: vertices(execute(sql.replace('?', mark), parameters))

    for source, expected in sources:
        check(driver, f'bfs(graph, {source!r})', run('SELECT vertex FROM emogi_bfs(?, ?)', 'edges', source), expected)
        check(driver, f'bfs(literal, {source!r})', run("SELECT vertex FROM emogi_bfs('edges', ?)", source), expected)
    check(driver, 'bfs(regclass, 42)', run("SELECT vertex FROM emogi_bfs('edges'::regclass, ?)", 42), FROM_42)
    check(driver, "bfs(graph, 3, columns => 'a, b')", run('SELECT vertex FROM emogi_bfs(?, ?, columns => ?)', 'edges', 3, 'a, b'), [3, 4])
    check(driver, "bfs(graph, 1, 1, 'out')", run('SELECT vertex FROM emogi_bfs(?, ?, ?, ?)', 'edges', 1, 1, 'out'), [1, 2])
    check(driver, "bfs(graph, '1', None, None)", run('SELECT vertex FROM emogi_bfs(?, ?, ?, ?)', 'edges', '1', None, None), [1, 2, 7])
    check(driver, 'sssp(graph, 1, 0.5)', run('SELECT vertex FROM emogi_sssp(?, ?, ?)', 'edges', 1, 0.5), [1, 2])
    check(driver, 'shortest_path(graph, 1, 7)', run('SELECT vertex FROM emogi_shortest_path(?, ?, ?)', 'edges', 1, 7), [1, 2, 7])
    check(driver, "shortest_path(graph, '1', '7')", run('SELECT vertex FROM emogi_shortest_path(?, ?, ?)', 'edges', '1', '7'), [1, 2, 7])
    check(driver, 'shortest_path(graph, 1, None)', run('SELECT vertex FROM emogi_shortest_path(?, ?, ?)', 'edges', 1, None), [])
    check(driver, 'cc(graph)', run('SELECT vertex FROM emogi_cc(?)', 'edges'), FROM_BOTH)
    check(driver, 'pagerank(graph, 0.9, 20)', run('SELECT vertex FROM emogi_pagerank(?, ?, ?)', 'edges', 0.9, 20), FROM_BOTH)
    check(driver, 'heat(graph, start)', run('SELECT vertex FROM emogi_heat(?, ?)', 'edges', 'VALUES (1, 1)'), FROM_BOTH)
    check(driver, 'estimate(graph)', lambda: bool(execute(f'SELECT edges FROM emogi_estimate({mark})', ('edges',))), True)
    check(driver, 'a query as graph', run('SELECT vertex FROM emogi_bfs(?, ?)', 'SELECT src, dst FROM edges', 42), FROM_42)
    check(driver, 'LATERAL', run('SELECT b.vertex FROM edges e, LATERAL emogi_bfs(?, e.dst) b WHERE e.src = ?', 'edges', 42), [5])


def psycopg3():
    import psycopg
    with psycopg.connect(host=FOLDER, port=PORT, user=USER, dbname='postgres', autocommit=True) as connection:
        def server(**options):
            return lambda sql, parameters: connection.cursor(binary=options.get('binary', False)).execute(
                sql, parameters, prepare=options.get('prepare')).fetchall()

        def fetch_client(sql, parameters):
            return psycopg.ClientCursor(connection).execute(sql, parameters).fetchall()

        check_dbapi('psycopg 3', server())
        check_dbapi('psycopg 3, binary results', server(binary=True))
        check_dbapi('psycopg 3, binary parameters', server(), mark='%b')
        check_dbapi('psycopg 3, text parameters', server(), mark='%t')
        check_dbapi('psycopg 3, prepared', server(prepare=True))
        check_dbapi('psycopg 3, client binding', fetch_client)

        def fetch_named(sql, parameters):
            with connection.transaction(), connection.cursor('named') as cursor:
                return cursor.execute(sql, parameters).fetchall()
        check_dbapi('psycopg 3, named cursor', fetch_named)


def psycopg2_():
    import psycopg2
    connection = psycopg2.connect(host=FOLDER, port=PORT, user=USER, dbname='postgres')

    def execute(sql, parameters):
        with connection, connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall()
    check_dbapi('psycopg2', execute)
    connection.close()


def pg8000_():
    import pg8000.dbapi
    import pg8000.native
    socket = f'{FOLDER}/.s.PGSQL.{PORT}'
    connection = pg8000.dbapi.connect(USER, unix_sock=socket, database='postgres')

    def execute(sql, parameters):
        cursor = connection.cursor()
        try:
            cursor.execute(sql, parameters)
            return cursor.fetchall()
        finally:
            connection.rollback()
    check_dbapi('pg8000', execute)
    connection.close()
    native = pg8000.native.Connection(USER, unix_sock=socket, database='postgres')
    for source, expected in SOURCES:
        check('pg8000.native', f'bfs(graph, {source!r})',
              lambda: vertices(native.run('SELECT vertex FROM emogi_bfs(:g, :s)', g='edges', s=source)), expected)
    native.close()


async def asyncpg_():
    """The server infers parameter types: an untyped source is text, and a cast sets the type."""
    import asyncpg
    connection = await asyncpg.connect(host=FOLDER, port=PORT, user=USER, database='postgres')
    loop = asyncio.get_running_loop()
    cases = [(source, 'SELECT vertex FROM emogi_bfs($1, $2)', ('edges', source), expected)
             for source, expected in SOURCES if source is None or isinstance(source, str)]
    cases += [(f'{source!r}, cast', 'SELECT vertex FROM emogi_bfs($1, $2::bigint)', ('edges', source), expected)
              for source, expected in SOURCES if source is None or isinstance(source, int)]
    cases += [(f'{source!r}, cast', 'SELECT vertex FROM emogi_bfs($1, $2::bigint[])', ('edges', source), expected)
              for source, expected in SOURCES if source is None or isinstance(source, list)]
    cases += [('regclass', 'SELECT vertex FROM emogi_bfs($1::text::regclass, $2)', ('edges', '42'), FROM_42),
              ('columns', 'SELECT vertex FROM emogi_bfs($1::text, $2, columns => $3)', ('edges', '3', 'a, b'), [3, 4]),
              ('1, 1, out', 'SELECT vertex FROM emogi_bfs($1, $2, $3, $4)', ('edges', '1', 1, 'out'), [1, 2]),
              ('sssp', 'SELECT vertex FROM emogi_sssp($1, $2, $3)', ('edges', '1', 0.5), [1, 2]),
              ('shortest_path, str', 'SELECT vertex FROM emogi_shortest_path($1, $2, $3)', ('edges', '1', '7'), [1, 2, 7]),
              ('shortest_path, cast', 'SELECT vertex FROM emogi_shortest_path($1, $2::bigint, $3::bigint)', ('edges', 1, 7), [1, 2, 7]),
              ('shortest_path, one cast', 'SELECT vertex FROM emogi_shortest_path($1, $2, $3::bigint)', ('edges', 1, 7), [1, 2, 7]),
              ('cc', 'SELECT vertex FROM emogi_cc($1)', ('edges',), FROM_BOTH),
              ('query, int with a cast', "SELECT vertex FROM emogi_cc(emogi_query('TABLE edges LIMIT $1', $1::bigint))", (100000,), FROM_BOTH),
              ('query, str', "SELECT vertex FROM emogi_cc(emogi_query('TABLE edges LIMIT $1', $1))", ('100000',), FROM_BOTH),
              ('pagerank', 'SELECT vertex FROM emogi_pagerank($1, $2, $3)', ('edges', 0.9, 20), FROM_BOTH),
              ('heat', 'SELECT vertex FROM emogi_heat($1, $2)', ('edges', 'VALUES (1, 1)'), FROM_BOTH)]
    for name, sql, parameters, expected in cases:
        for how in 'fetch', 'prepare':
            try:
                rows = await (connection.fetch(sql, *parameters) if how == 'fetch' else (await connection.prepare(sql)).fetch(*parameters))
                result = vertices(rows)
            except Exception as error:
                result = f'{type(error).__name__}: {error}'.splitlines()[0]
            check(f'asyncpg, {how}', str(name), lambda: result, expected)
    try:
        await connection.fetch('SELECT vertex FROM emogi_bfs($1, $2)', 'edges', 42)
        refused = 'rows'
    except Exception as error:
        refused = type(error).__name__
    check('asyncpg, fetch', '42 without a cast, as the manual says', lambda: refused, 'DataError')
    await connection.close()


def sqlalchemy_():
    import sqlalchemy as sa
    from sqlalchemy.ext.asyncio import create_async_engine

    def statements():
        def call(name, *arguments):
            return sa.select(sa.column('vertex')).select_from(getattr(sa.func, name)(*arguments).table_valued('vertex'))
        graph_only = sa.text('SELECT vertex FROM emogi_bfs(:g, :s)')
        yield 'func.bfs(graph, 42)', call('emogi_bfs', 'edges', 42), FROM_42
        yield "func.bfs(graph, '42')", call('emogi_bfs', 'edges', '42'), FROM_42
        yield 'func.bfs(graph, None)', call('emogi_bfs', 'edges', None), []
        yield 'func.bfs(graph, array)', call('emogi_bfs', 'edges', sa.cast([1, 42], sa.ARRAY(sa.BigInteger))), FROM_BOTH
        yield 'func.bfs(graph, 1, 1)', call('emogi_bfs', 'edges', 1, 1), [1, 2]
        yield 'func.shortest_path(graph, 1, 7)', call('emogi_shortest_path', 'edges', 1, 7), [1, 2, 7]
        yield 'func.shortest_path(graph, str, str)', call('emogi_shortest_path', 'edges', '1', '7'), [1, 2, 7]
        yield 'func.cc(graph)', call('emogi_cc', 'edges'), FROM_BOTH
        yield "text, '42'", graph_only.bindparams(g='edges', s='42'), FROM_42
        yield 'text, None', graph_only.bindparams(g='edges', s=None), []
        yield 'text, cast, 42', sa.text('SELECT vertex FROM emogi_bfs(:g, CAST(:s AS bigint))').bindparams(g='edges', s=42), FROM_42
        yield 'text, regclass', sa.text("SELECT vertex FROM emogi_bfs('edges'::regclass, :s)").bindparams(s='42'), FROM_42

    def url(driver):
        query = {'host': FOLDER, 'port': str(PORT)}
        if driver == 'pg8000':
            query = {'unix_sock': f'{FOLDER}/.s.PGSQL.{PORT}'}
        return sa.URL.create(f'postgresql+{driver}', username=USER, database='postgres', query=query)

    for driver in 'psycopg', 'psycopg2', 'pg8000':
        engine = sa.create_engine(url(driver))

        def execute(statement, **parameters):
            with engine.connect() as connection:
                return vertices(connection.execute(statement, parameters))
        for name, statement, expected in statements():
            check(f'SQLAlchemy, {driver}', name, lambda: execute(statement), expected)
        check(f'SQLAlchemy, {driver}', 'text, 42',
              lambda: execute(sa.text('SELECT vertex FROM emogi_bfs(:g, :s)'), g='edges', s=42), FROM_42)
        engine.dispose()

    async def with_asyncpg():
        engine = create_async_engine(url('asyncpg'))
        for name, statement, expected in statements():
            try:
                async with engine.connect() as connection:
                    result = vertices(await connection.execute(statement))
            except Exception as error:
                result = f'{type(error).__name__}: {error}'.splitlines()[0]
            check('SQLAlchemy, asyncpg', name, lambda: result, expected)
        await engine.dispose()
    asyncio.run(with_asyncpg())


psycopg3()
psycopg2_()
pg8000_()
asyncio.run(asyncpg_())
sqlalchemy_()
print(f'drivers.py: {passed} passed, {failed} failed')
