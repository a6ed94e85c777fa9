-- Calls with edge_filter on property columns of the graph of the whole table: which calls use them,
-- privileges, views, EXPLAIN.
CREATE EXTENSION IF NOT EXISTS emogi;
SET emogi.engine = auto;
SET emogi.enable_property_columns = on;
SET emogi.enable_index_search = off;
CREATE TABLE column_edges (src int, dst int, weight float8, kind text, amount numeric, secret int, tags int[], created date);
INSERT INTO column_edges VALUES
  (1, 2, 1, 'sms', 10.0, 7, '{1}', '2024-01-01'), (1, 3, 2, 'call', 10.00, 8, '{2}', '2024-02-01'),
  (2, 4, 3, 'sms', 5, 7, NULL, NULL), (3, 5, 1, NULL, NULL, 9, '{}', '2024-03-01'),
  (4, 1, 1, 'mail', 1e3, 7, '{1}', '2024-01-05'), (1, 2, 5, 'call', 3, 7, '{1}', '2024-01-02'), (NULL, 1, 1, 'sms', 1, 1, NULL, NULL);
-- whether the last call with a filter used a mask: a hit of the graph of the table
CREATE FUNCTION column_hits() RETURNS bigint LANGUAGE sql AS
$$ SELECT sum(hits)::bigint FROM emogi_graphs WHERE source = 'column_edges' $$;
CREATE FUNCTION column_call(filter text, graph text DEFAULT 'column_edges(src, dst)', OUT reached text, OUT masked boolean)
LANGUAGE plpgsql AS
$$ DECLARE
  before bigint := coalesce(column_hits(), 0);
BEGIN
  SELECT string_agg(vertex || ':' || level, ' ' ORDER BY vertex) INTO reached
  FROM emogi_bfs(graph, 1, edge_filter => filter);
  masked := coalesce(column_hits(), 0) > before;
END $$;
-- without the graph of the table, a graph of the condition is built
SELECT * FROM column_call('kind = ''sms''');
SELECT count(*) FROM emogi_bfs('column_edges(src, dst)', 1);
-- that graph is used again, but not for another value
SELECT * FROM column_call('kind = ''sms''');
SELECT * FROM column_call('kind = ''call''');
SELECT * FROM column_call('kind IN (''sms'', ''call'') AND amount = 10');
SELECT * FROM column_call('amount > 5 OR created < ''2024-01-04''');
SELECT property_columns, property_bytes > 0 AS has_bytes, property_bytes < bytes AS are_in_bytes
FROM emogi_graphs WHERE source = 'column_edges';
-- conditions over other types, with functions and tableoid have their own graphs
SELECT * FROM column_call('tags = ''{1}''');
SELECT * FROM column_call('length(kind) = 4');
SELECT * FROM column_call('tableoid = ''column_edges''::regclass');
SELECT * FROM column_call('kind LIKE ''c%''');
-- a pattern that may raise an error is left to PostgreSQL
SELECT * FROM column_call('kind LIKE ''c\''');
-- another column: all are read again
SELECT * FROM column_call('secret = 7');
SELECT property_columns FROM emogi_graphs WHERE source = 'column_edges';
-- a graph with weights; parallel edges are in the order of weights
SELECT emogi_evict('column_edges');
SELECT count(*) FROM emogi_sssp('column_edges(src, dst, weight)', 1);
SELECT * FROM column_call('kind = ''call''');
SELECT * FROM column_call('weight >= 2');
SELECT columns, property_columns FROM emogi_graphs WHERE source = 'column_edges';
-- rows, targets, depth, direction, several sources
SELECT vertex, level FROM emogi_bfs('column_edges(src, dst)', 4, edge_filter => 'secret = 7') ORDER BY 1;
SELECT vertex, level FROM emogi_bfs('column_edges(src, dst)', ARRAY[2, 3], max_depth => 1, edge_filter => 'secret > 6') ORDER BY 1;
SELECT level FROM emogi_bfs('column_edges(src, dst)', 1, edge_filter => 'secret = 7') WHERE vertex = 4;
SELECT count(*), max(level) FROM emogi_bfs('column_edges(src, dst)', 1, edge_filter => 'secret IN (7, 9)');
-- a source is a vertex if a passing edge begins or ends at it
SET emogi.notice_missing_source = on;
SELECT vertex, level FROM emogi_bfs('column_edges(src, dst)', 5, edge_filter => 'secret = 9') ORDER BY 1;
SELECT vertex, level FROM emogi_bfs('column_edges(src, dst)', 5, edge_filter => 'secret = 8') ORDER BY 1;
SELECT count(*) FROM emogi_bfs('column_edges(src, dst)', 5, edge_filter => 'secret = 6');
SELECT vertex, level FROM emogi_bfs('column_edges(src, dst)', ARRAY[5, 1], edge_filter => 'secret = 8') ORDER BY 1;
RESET emogi.notice_missing_source;
-- EXPLAIN
CREATE FUNCTION column_explain(filter text) RETURNS SETOF text LANGUAGE plpgsql AS
$$ DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM emogi_bfs(''column_edges(src, dst)'', 1, edge_filter => ' || quote_literal(filter) || ')' LOOP
    IF line ~ 'Filter|Property|Graph' THEN RETURN NEXT regexp_replace(line, 'Bytes: \d+', 'Bytes: N'); END IF;
  END LOOP;
END $$;
SELECT column_explain('secret < 9');
SELECT column_explain('length(kind) < 4');
-- readers of a view do not use the table's graph; a condition without columns reads none, also with
-- reverse lists
CREATE VIEW column_view AS SELECT src, dst, kind FROM column_edges WHERE secret < 9;
SELECT * FROM column_call('kind = ''sms''', 'column_view(src, dst)');
DROP VIEW column_view;
CREATE TABLE column_chain AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 3000) i;
SELECT count(*) FROM emogi_hits('column_chain');
SELECT count(*) FROM emogi_bfs('column_chain', 3001, edge_filter => 'true');
SELECT count(*) FROM emogi_bfs('column_chain', 3001, edge_filter => '$1 = 1', params => 1);
SELECT count(*) FROM emogi_bfs('column_chain', 3001, edge_filter => 'src = 3000');
DROP TABLE column_chain;
-- partitions and children: a graph of the condition
CREATE TABLE column_parts (src int, dst int, n int) PARTITION BY LIST (n);
CREATE TABLE column_part PARTITION OF column_parts DEFAULT;
INSERT INTO column_parts SELECT src, dst, secret FROM column_edges;
CREATE TABLE column_parent AS SELECT src, dst, secret AS n FROM column_edges WHERE secret = 7;
CREATE TABLE column_child () INHERITS (column_parent);
INSERT INTO column_child SELECT src, dst, secret FROM column_edges WHERE secret <> 7;
SELECT (SELECT count(*) FROM emogi_bfs('column_parts(src, dst)', 1)), (SELECT count(*) FROM emogi_bfs('column_parent(src, dst)', 1)), (SELECT count(*) FROM emogi_bfs('column_part(src, dst)', 1));
SELECT reached FROM column_call('n < 9', 'column_parts(src, dst)');
SELECT reached FROM column_call('n < 9', 'column_parent(src, dst)');
SELECT source, hits, property_columns FROM emogi_graphs WHERE source LIKE 'column_par%' ORDER BY 1;
-- ... but not of a partition that is named itself
SELECT reached FROM column_call('n < 9', 'column_part(src, dst)');
SELECT source, hits, property_columns FROM emogi_graphs WHERE source LIKE 'column_par%' ORDER BY 1;
DROP TABLE column_parts, column_parent, column_child;
-- disabled; a change of the table
SET emogi.enable_property_columns = off;
SELECT * FROM column_call('secret < 8');
SET emogi.enable_property_columns = on;
UPDATE column_edges SET secret = 6 WHERE kind = 'mail';
SELECT * FROM column_call('secret <= 7');
SELECT count(*) FROM emogi_bfs('column_edges(src, dst)', 1);
SELECT * FROM column_call('secret BETWEEN 7 AND 8');
-- own changes
BEGIN;
UPDATE column_edges SET secret = 8;
SELECT * FROM column_call('secret BETWEEN 8 AND 10');
ROLLBACK;
SELECT * FROM column_call('secret BETWEEN 8 AND 10');
-- privileges: on the columns in the condition, in each call
CREATE ROLE column_reader;
GRANT SELECT (src, dst, kind) ON column_edges TO column_reader;
SET ROLE column_reader;
SELECT reached FROM column_call('kind <> ''sms''');
SELECT reached FROM column_call('secret = 7');
RESET ROLE;
-- row security: the role's own graph
GRANT SELECT ON column_edges TO column_reader;
CREATE POLICY column_policy ON column_edges USING (secret < 8);
ALTER TABLE column_edges ENABLE ROW LEVEL SECURITY;
SELECT count(*) FROM emogi_bfs('column_edges(src, dst)', 1);
SELECT column_explain('kind IS NOT NULL');
SET ROLE column_reader;
SELECT reached FROM column_call('kind IS NOT NULL');
SELECT reached FROM column_call('kind IS NOT NULL');
SELECT column_explain('kind IS NOT NULL');
SELECT count(*) FROM emogi_graphs WHERE property_columns IS NOT NULL;
RESET ROLE;
ALTER TABLE column_edges DISABLE ROW LEVEL SECURITY;
DROP POLICY column_policy ON column_edges;
-- more than 2^20 different values are not stored, other columns are
CREATE TABLE column_texts AS SELECT i % 10 AS src, i % 1000 AS dst, i || 'x' AS x, i AS n FROM generate_series(1, 1100000) i;
SELECT count(*) FROM emogi_bfs('column_texts(src, dst)', 1);
SELECT count(*) FROM emogi_bfs('column_texts(src, dst)', 1, edge_filter => 'x < ''2''');
SELECT count(*) FROM emogi_bfs('column_texts(src, dst)', 1, edge_filter => 'n < 200');
-- whether the second call loads depends on the time that the first one has taken
DO $$ BEGIN
  FOR i IN 201 .. 230 LOOP
    EXIT WHEN (SELECT property_columns FROM emogi_graphs WHERE source = 'column_texts') IS NOT NULL;
    PERFORM count(*) FROM emogi_bfs('column_texts(src, dst)', 1, edge_filter => 'n < $1', params => i);
  END LOOP;
END $$;
SELECT property_columns FROM emogi_graphs WHERE source = 'column_texts';
DROP TABLE column_texts, column_edges;
DROP FUNCTION column_hits, column_call, column_explain;
DROP ROLE column_reader;
