-- Messages that name the correct form: errors of the parser, comparisons of parameters, SELECT *
-- with a column named vertex, errors in the rows of a query.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
DROP SCHEMA IF EXISTS test_messages CASCADE;
CREATE SCHEMA test_messages;
SET search_path = test_messages, public;
\pset format unaligned
\pset tuples_only on
CREATE TABLE edges (src int, dst int, kind text, vertex int);
INSERT INTO edges VALUES (1, 2, 'a', 11), (2, 3, 'b', 12), (3, 4, 'a', NULL);

-- An untyped parameter together with a number, and other statements with the same error.
PREPARE untyped AS SELECT emogi_query('edges WHERE kind = $1 AND src < $2', $1, 3);
PREPARE typed (text) AS SELECT vertex FROM emogi_bfs(emogi_query('edges WHERE kind = $1 AND src < $2', $1::text, 3), 1);
EXECUTE typed('a');
PREPARE other AS SELECT $1;
PREPARE other_error AS SELECT pg_typeof($1);

-- columns => together with a query, a relation with columns, and a relation; and another error
-- about names.
SELECT * FROM emogi_bfs('SELECT src, dst FROM edges', 1, columns => 'src, dst');
SELECT * FROM emogi_bfs('edges(src, dst)', 1, columns => 'src, dst');
SELECT vertex FROM emogi_bfs('edges'::regclass, 1, columns => 'dst, src');
SELECT 'a b'::regclass;

-- Parameters compared with each other are not column names; other comparisons are unchanged.
SELECT emogi_query('SELECT src, dst FROM edges WHERE $1 = $2', 'kind', 'a');
SELECT emogi_query('edges WHERE src > 1 AND $2<>$1', 'kind', 'a');
SELECT emogi_query('edges WHERE $1 = kind AND $2 = src AND ($1 IS NULL OR $2 = 2)', 'a', 1);

-- A * that includes a column vertex of a table; an explicit column, in any form, is intended.
SELECT * FROM emogi_cc('SELECT * FROM edges');
SELECT * FROM emogi_cc('SELECT e.* FROM edges e WHERE src = 1');
SELECT * FROM emogi_cc('WITH q AS (SELECT 1) SELECT * FROM edges');
CREATE VIEW with_vertices AS SELECT * FROM edges;
SELECT count(*) FROM emogi_cc('SELECT * FROM with_vertices');
SELECT count(*) FROM emogi_cc('SELECT src, dst, vertex FROM edges');
SELECT count(*) FROM emogi_cc('SELECT e.vertex, e.src, e.dst FROM edges e');
SELECT count(*) FROM emogi_cc('SELECT * FROM (SELECT src, dst, src + 20 AS vertex FROM edges) s');
SELECT count(*) FROM emogi_cc('SELECT src, dst FROM edges');
SELECT count(*) FROM emogi_cc('edges');

-- An error in the rows shows the query as it was given.
SELECT * FROM emogi_pagerank('SELECT src, dst, (kind || src)::numeric AS weight FROM edges', weights => true);
SELECT * FROM emogi_bfs('edges WHERE src = missing', 1);

-- The estimate for a relation with a condition counts the matching rows.
CREATE TABLE many AS SELECT i AS src, i + 1 AS dst, i % 10 AS n FROM generate_series(1, 10000) i;
ANALYZE many;
SELECT edges BETWEEN 900 AND 1100 FROM emogi_estimate('many WHERE n = 4');
SELECT edges BETWEEN 900 AND 1100 FROM emogi_estimate(emogi_query('many WHERE n = $1', 4));

-- Typical mistakes of new users: values instead of queries, arguments in the wrong position,
-- aliases, several tables, quotes.
SELECT * FROM emogi_pagerank('edges', start => '1');
SELECT * FROM emogi_heat('edges', '{1,2}');
SELECT * FROM emogi_heat('edges', '');
SELECT * FROM emogi_shortest_paths('edges', '1, 5');
SELECT * FROM emogi_modularity('edges', '1');
SELECT * FROM emogi_bfs('edges', 1, 'both');
SELECT * FROM emogi_sssp('edges', 1, 'in');
SELECT * FROM emogi_bfs('edges', 1, 'bothx');
SELECT * FROM emogi_cc('edges', 'both');
SELECT * FROM emogi_cc('edges'::regclass, 'src');
SELECT * FROM emogi_bfs('edges e', 1);
SELECT * FROM emogi_bfs('edges(src, dst) AS e', 1);
SELECT * FROM emogi_bfs('nowhere e', 1);
SELECT * FROM emogi_bfs('edges;', 1);
SELECT * FROM emogi_bfs('''edges''', 1);
-- A condition without WHERE, with a semicolon, or with a string in double quotes; a misspelt
-- column.
SELECT * FROM emogi_bfs('edges kind', 1);
SELECT * FROM emogi_bfs('edges(src, dst) kind;', 1);
SELECT * FROM emogi_bfs('edges(src,dst) "vertex"', 1);
SELECT * FROM emogi_bfs('edges(src, dst) vertex > 11', 1);
SELECT * FROM emogi_bfs('edges NOT vertex', 1);
SELECT * FROM emogi_bfs('edges(src, dst) WHERE src > 0;', 1);
SELECT * FROM emogi_bfs('edges WHERE kind = ''a'' ; ', 1);
SELECT * FROM emogi_bfs('edges WHERE kind = ''a'' AND', 1);
SELECT * FROM emogi_bfs('edges WHERE src >', 1);
SELECT count(*) FROM emogi_bfs('edges WHERE src > 0 -- ;', 1);
SELECT * FROM emogi_bfs('edges WHERE kind = "a"', 1);
SELECT * FROM emogi_bfs('edges(src, dst) WHERE kind <> ''é'' AND kind ="1"', 1);
SELECT * FROM emogi_bfs('SELECT src, dst FROM edges WHERE kind = "a"', 1);
SELECT * FROM emogi_pagerank('edges', start => 'SELECT src, 1 FROM edges WHERE kind = "a"');
SELECT * FROM emogi_bfs('edges WHERE "knd" = ''a''', 1);
SELECT * FROM emogi_bfs('edges, many', 1);
SELECT * FROM emogi_bfs('edges JOIN many ON true', 1);
SELECT * FROM emogi_bfs('INSERT INTO edges VALUES (1, 2)', 1);
SELECT * FROM emogi_bfs(1, 'edges');
SELECT * FROM emogi_bfs(edges, 1);
SELECT * FROM emogi_bfs("edges", 1);
SELECT vertex, missing FROM emogi_bfs('edges', 1);
SELECT * FROM emogi_bfs('edges(src, dst)'::regclass, 1);
SELECT * FROM emogi_bfs('SELECT src, dst FROM edges'::regclass, 1);
CREATE VIEW ends AS SELECT src, dst FROM edges;
SELECT * FROM emogi_sssp('ends(src, dst, price)', 1);
SELECT * FROM emogi_sssp('ends(src, dst, dts)', 1);
SELECT emogi_evict('nowhere_at_all');
-- A function's own error keeps its hint.
SELECT * FROM emogi_distance_matrix('edges', ARRAY[1, 2]);

DROP SCHEMA test_messages CASCADE;
