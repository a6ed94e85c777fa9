-- Components of vertices after changes, in a graph without component labels: from the edges around
-- the vertices in the older graph with its overlay, also after deletions.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE SCHEMA test_component_overlays;
SET search_path = test_component_overlays, public;
SET emogi.incremental_min_size = 0;
SET emogi.enable_index_search = off;
SET emogi.engine = cpu;
\pset format unaligned
\pset tuples_only on
CREATE TABLE e (src int, dst int);
INSERT INTO e SELECT v, v + 1 FROM generate_series(1, 40000) v WHERE v % 4 <> 0;
CREATE INDEX ON e (src);
VACUUM ANALYZE e;
CREATE FUNCTION last() RETURNS text LANGUAGE sql AS
  $$ SELECT cache || ' by ' || engine || ', ' || coalesce(split_part(reason, ':', 1), 'no reason') FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
SELECT count(*) FROM emogi_bfs('e', 1, direction => 'both');
INSERT INTO e VALUES (3, 5), (90000, 1);
SELECT component FROM emogi_cc('e') WHERE vertex = 90000;
SELECT last();
SELECT count(*) FROM emogi_bfs('e', 90000, direction => 'both');
SELECT last();
DELETE FROM e WHERE src = 2;
SELECT vertex, component FROM emogi_cc('e') WHERE vertex IN (1, 2, 3, 90000, 90001) ORDER BY 1;
SELECT last();
BEGIN;
INSERT INTO e VALUES (2, 40001), (7, 7);
DELETE FROM e WHERE src = 5;
SELECT vertex, component FROM emogi_cc('e') WHERE vertex IN (1, 2, 5, 6, 7, 40001) ORDER BY 1;
SELECT count(*) FROM emogi_cc('e') WHERE component = 1;
ROLLBACK;
-- all rows need labels: the changes are merged, and the labels of that graph serve later calls
INSERT INTO e VALUES (9, 13);
SELECT count(DISTINCT component), count(*) FROM emogi_cc('e');
SELECT last();
INSERT INTO e VALUES (13, 17);
SELECT component FROM emogi_cc('e') WHERE vertex = 18;
SELECT last();
-- labels cannot be used after a deletion
DELETE FROM e WHERE src = 13 AND dst = 17;
SELECT component FROM emogi_cc('e') WHERE vertex = 18;
DELETE FROM e WHERE src = 9 AND dst = 13;
SELECT component FROM emogi_cc('e') WHERE vertex = 14;
SELECT last();
-- a component too large to be searched
INSERT INTO e SELECT v * 4, v * 4 + 1 FROM generate_series(1, 9000) v;
SELECT component FROM emogi_cc('e') WHERE vertex = 30000;
SELECT component = (SELECT min(vertex) FROM emogi_bfs('e', 30000, direction => 'both')) FROM emogi_cc('e') WHERE vertex = 30000;
SELECT count(*), count(DISTINCT component) FROM (SELECT component, random() FROM emogi_cc('e') OFFSET 0) all_rows;
SELECT last();
DELETE FROM e WHERE src = 20000;
SELECT component FROM emogi_cc('e') WHERE vertex = 30000;
SELECT last();
SELECT component = (SELECT min(vertex) FROM emogi_bfs('e', 30000, direction => 'both')), component FROM emogi_cc('e') WHERE vertex = 30000;
DROP SCHEMA test_component_overlays CASCADE;
