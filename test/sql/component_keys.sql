-- Components of keys that are not integers: conditions, groups, joins and first rows are computed
-- with vertex numbers, with the same answers as PostgreSQL over the rows, for every key type; and
-- rows of one component are looked up, also after edges were inserted.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_component_keys;
SET search_path = test_component_keys, public;
SET emogi.engine = 'auto';
SET emogi.incremental_min_size = 0;
SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset tuples_only on
\pset null (null)

-- Run a query with and without the scan: returns whether the answers are equal, the node, and its
-- remaining filter.
CREATE FUNCTION ways(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  found text := 'rows';
  answers text[];
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'EmogiAggregate' THEN found := 'aggregated'; END IF;
    IF line ~ 'Rows Picked' THEN found := 'picked'; END IF;
    IF line ~ 'Pushed Down' THEN found := found || ', pushed down'; END IF;
    IF line ~ '^ *Filter' THEN found := found || ', filtered'; END IF;
  END LOOP;
  FOREACH line IN ARRAY ARRAY['on', 'off'] LOOP
    PERFORM set_config('emogi.enable_scan', line, true);
    EXECUTE 'SELECT array_append($1, coalesce(string_agg(q::text, '';'' ORDER BY q::text COLLATE "C"), ''no rows'')) FROM (' || query || ') q' INTO answers USING answers;
  END LOOP;
  PERFORM set_config('emogi.enable_scan', 'on', true);
  IF answers[1] <> answers[2] THEN
    RETURN 'DIFFERS: ' || left(answers[1], 200) || ' / ' || left(answers[2], 200);
  END IF;
  RETURN found;
END $$;

-- Forty components of two to nine vertices, with keys of each type; some numerics and char(n) have
-- two representations.
CREATE TABLE b AS SELECT g * 10::bigint AS src, g * 10::bigint + i AS dst FROM generate_series(1, 40) g, generate_series(1, 1 + g % 8) i;
CREATE TABLE t AS SELECT 'k' || src AS src, 'k' || dst AS dst FROM b;
CREATE TABLE c AS SELECT ('k' || src)::varchar(20) COLLATE "C" AS src, ('k' || dst)::varchar(20) COLLATE "C" AS dst FROM b;
CREATE TABLE u AS SELECT lpad(src::text, 32, '0')::uuid AS src, lpad(dst::text, 32, '0')::uuid AS dst FROM b;
CREATE TABLE n AS SELECT src / 8.0 AS src, dst / 8.0 AS dst FROM b UNION ALL SELECT (src / 8.0)::numeric(20, 5), 'NaN' FROM b WHERE src = 70;
CREATE TABLE p AS SELECT ('k' || src)::char(8) AS src, ('k' || dst)::char(12) AS dst FROM b;
CREATE TABLE f AS SELECT src / 8.0::float8 AS src, dst / 8.0::float8 AS dst FROM b;
CREATE TABLE r AS SELECT src AS s, 'a' AS s2, dst AS d, 'b' AS d2 FROM b;
CREATE TABLE few AS SELECT g * 2 - 1 AS src, g * 2 AS dst FROM generate_series(1, 5) g;
CREATE TABLE o AS SELECT g AS id, g * 5::bigint AS b, 'k' || g * 5 AS t, lpad((g * 5)::text, 32, '0')::uuid AS u, (g * 5 / 8.0)::text AS n FROM generate_series(1, 90) g;

-- Each condition, group and order, with keys of each type. The type of a query is known when its
-- graph is cached.
SELECT count(*) FROM emogi_cc_text('SELECT src, dst FROM t');
SELECT count(*) FROM emogi_cc_text('r((s, s2), (d, d2))');
SELECT q, ways(q) FROM (VALUES ('emogi_cc(''b'')', '50', '60', '51'), ('emogi_cc_text(''t'')', '''k50''', '''k60''', '''k51'''), ('emogi_cc_text(''c'')', '''k50''', '''k60''', '''k51'''),
  ('emogi_cc_uuid(''u'')', 'lpad(''50'', 32, ''0'')::uuid', 'lpad(''60'', 32, ''0'')::uuid', 'lpad(''51'', 32, ''0'')::uuid'), ('emogi_cc_text(''n'')', '''6.2500000000000000''', '''7.5000000000000000''', '''6.25'''),
  ('emogi_cc_text(''p'')', '''k50''', '''k60''', '''k50  '''), ('emogi_cc_text(''b'')', '''50''', '''60''', '''050'''), ('emogi_cc_text(''f'')', '''6.25''', '''7.5''', '''x'''), ('emogi_cc_text(''r((s, s2), (d, d2))'')', '''(50,a)''', '''(60,a)''', '''x'''),
  ('emogi_cc_text(''SELECT src, dst FROM t'')', '''k50''', '''k60''', '''k51''')) g (call, x, y, z),
  unnest(ARRAY['SELECT * FROM ' || call || ' WHERE component = ' || x, 'SELECT count(*) FROM ' || call || ' WHERE component = ' || z, 'SELECT * FROM ' || call || ' WHERE component IN (' || x || ', ' || y || ', ' || z || ')',
    'SELECT count(*), count(DISTINCT component) FROM ' || call || ' WHERE component <> ' || x, 'SELECT component, count(*) FROM ' || call || ' GROUP BY component HAVING count(*) > 4',
    'SELECT count(DISTINCT component) FROM ' || call, 'SELECT DISTINCT component FROM ' || call]) q;

-- Columns that name vertices in other functions, other operands, and conditions of other kinds.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT component, count(*) FROM emogi_cc(''few'') WHERE component <> 3 GROUP BY component', 'SELECT component, count(*) FROM emogi_cc(''few'') WHERE component IN (1, 5, 7) GROUP BY component',
  'SELECT component, count(*) FROM emogi_scc_text(''t'') WHERE component = ''k50'' GROUP BY component',
  'SELECT label, count(*) FROM emogi_cdlp_text(''t'', max_iterations => 3) GROUP BY label',
  'SELECT count(*) FROM emogi_cdlp_text(''t'', max_iterations => 3) WHERE label IN (''k50'', ''k60'')',
  'SELECT * FROM emogi_cc_text(''t'') WHERE component = (SELECT component FROM emogi_cc_text(''t'') WHERE vertex = ''k53'')',
  'SELECT * FROM emogi_cc_text(''t'') WHERE component = NULL::text', 'SELECT count(*) FROM emogi_cc_text(''t'') WHERE component <> NULL::text',
  'SELECT * FROM emogi_cc_text(''t'') WHERE component = ANY (ARRAY[''k50'', NULL])', 'SELECT * FROM emogi_cc_text(''t'') WHERE component = ANY (ARRAY[]::text[])',
  'SELECT * FROM emogi_cc_text(''t'') WHERE component IN (''k50'', ''k60'') AND component IN (''k60'', ''k70'')', 'SELECT * FROM emogi_cc_text(''t'') WHERE component IN (''k50'', ''k70'') AND component IN (''k50'', ''k60'', ''k70'')', 'SELECT count(*) FROM emogi_cc_text(''t'') WHERE component <> ''k50'' AND component <> ''k60''',
  'SELECT * FROM emogi_cc_text(''t'') WHERE component = ''k50'' AND vertex = ''k51''', 'SELECT * FROM emogi_cc_text(''t'') WHERE component = ''k50'' AND vertex = ''k61''',
  'SELECT min(vertex), max(vertex), min(component) FROM emogi_cc_text(''t'')', 'SELECT min(vertex) FROM emogi_cc_text(''b'')',
  'SELECT component, min(vertex) AS least, max(vertex) AS most FROM emogi_cc_text(''t'') GROUP BY component', 'SELECT component, max(vertex) FROM emogi_cc_text(''n'') GROUP BY component',
  'SELECT vertex, component FROM emogi_cc_text(''t'') ORDER BY component DESC, vertex LIMIT 7', 'SELECT vertex FROM emogi_cc_text(''n'') ORDER BY component DESC, vertex LIMIT 7']) q;

-- Keys that are equal but have different text, and conditions with such a collation, if the server
-- has them.
DO $$
DECLARE
  query text;
BEGIN
  CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  CREATE TABLE d AS SELECT CASE WHEN src % 20 = 0 THEN 'K' ELSE 'k' END || src::text COLLATE caseless AS src, 'k' || dst::text COLLATE caseless AS dst FROM b UNION ALL SELECT 'k60', 'K61';
  FOREACH query IN ARRAY ARRAY['SELECT * FROM emogi_cc_text(''d'') WHERE component = ''k50''', 'SELECT * FROM emogi_cc_text(''d'') WHERE component = ''K50''', 'SELECT * FROM emogi_cc_text(''d'') WHERE component = ''K60''',
    'SELECT * FROM emogi_cc_text(''d'') WHERE component IN (''k60'', ''K60'', ''K50'')', 'SELECT * FROM emogi_cc_text(''d'') WHERE component <> ''k60''', 'SELECT component, count(*) FROM emogi_cc_text(''d'') GROUP BY component',
    'SELECT min(vertex), max(vertex) FROM emogi_cc_text(''d'')', 'SELECT vertex FROM emogi_cc_text(''d'') ORDER BY component DESC, vertex LIMIT 4', 'SELECT o.id, c.* FROM o LEFT JOIN emogi_cc_text(''d'') c ON c.component = o.t',
    'SELECT * FROM emogi_cc_text(''t'') WHERE component = ''K50'' COLLATE caseless', 'SELECT component COLLATE caseless AS c, count(*) FROM emogi_cc_text(''t'') GROUP BY 1',
    'SELECT min(vertex COLLATE caseless) FROM emogi_cc_text(''t'')', 'SELECT * FROM emogi_cc_text(''t'') WHERE component IN (''K50'' COLLATE caseless, ''k60'')'] LOOP
    IF ways(query) LIKE 'DIFFERS%' THEN
      RAISE WARNING '%: %', query, ways(query);
    END IF;
  END LOOP;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;

-- Joins and correlated subqueries look up the members of components in the result of one run.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT o.id, c.* FROM o JOIN emogi_cc_text(''t'') c ON c.component = o.t WHERE o.id < 20', 'SELECT o.id, c.* FROM o LEFT JOIN emogi_cc(''b'') c ON c.component = o.b WHERE o.id < 20',
  'SELECT o.id, c.* FROM o JOIN emogi_cc_uuid(''u'') c ON c.component = o.u WHERE o.id < 20', 'SELECT o.id, (SELECT count(*) FROM emogi_cc_text(''t'') WHERE component = o.t) FROM o',
  'SELECT o.id, (SELECT max(vertex) FROM emogi_cc_text(''n'') WHERE component = o.n) FROM o', 'SELECT o.id, (SELECT sum(vertex) FROM emogi_scc(''b'') WHERE component = o.b::int) FROM o',
  'SELECT o.id, (SELECT count(*) FROM o i JOIN emogi_cc(''b'') c ON c.vertex = i.b WHERE c.component = o.b) FROM o', 'SELECT o.id FROM o WHERE EXISTS (SELECT FROM o i JOIN emogi_cc_text(''t'') c ON c.vertex = i.t WHERE c.component = o.t AND i.id > o.id)',
  'SELECT i.id FROM o i LEFT JOIN emogi_cc_text(''t'') c ON c.vertex = i.t AND c.component IN (''k50'', ''k60'') WHERE c.vertex IS NULL', 'SELECT i.id, c.component FROM o i JOIN emogi_cc_text(''t'') c ON c.vertex = i.t AND c.component <> ''k50''',
  'SELECT m.vertex FROM emogi_cc_text(''t'') s JOIN emogi_cc_text(''t'') m USING (component) WHERE s.vertex = ''k53''', 'SELECT m.vertex FROM emogi_cc_text(''f'') s JOIN emogi_cc_text(''f'') m USING (component) WHERE s.vertex = ''6.25''']) q;

-- The component compared with the vertex of its row, by number.
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT * FROM emogi_cc(''b'') WHERE vertex <> component', 'SELECT vertex FROM emogi_cc(''b'') WHERE component = vertex', 'SELECT count(*) FROM emogi_cc_text(''t'') WHERE component <> vertex', 'SELECT * FROM emogi_cc_text(''t'') WHERE vertex = component AND component <> ''k50''',
  'SELECT component, count(*) FROM emogi_cc_text(''t'') WHERE vertex <> component GROUP BY component', 'SELECT * FROM emogi_cc_uuid(''u'') WHERE vertex <> component AND component IN (lpad(''50'', 32, ''0'')::uuid, lpad(''60'', 32, ''0'')::uuid)',
  'SELECT * FROM emogi_cc_text(''n'') WHERE vertex <> component', 'SELECT vertex FROM emogi_cc_text(''f'') WHERE vertex = component', 'SELECT * FROM emogi_cc_text(''t'') WHERE vertex < component', 'SELECT * FROM emogi_scc_text(''t'') WHERE component = vertex ORDER BY vertex DESC LIMIT 3',
  'SELECT * FROM emogi_cdlp_text(''t'', max_iterations => 3) WHERE label <> vertex', 'SELECT * FROM emogi_cc_text(''t'') WHERE vertex = component AND vertex IN (''k50'', ''k51'')', 'SELECT o.id, c.vertex FROM o JOIN emogi_cc_text(''t'') c ON c.vertex = o.t WHERE c.vertex <> c.component']) q;

-- Members are read from the cached components, and in nested loops over all kinds of outer rows:
-- names, vertices that name no component, NULL.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT q, ways(q) FROM unnest(ARRAY[
  'SELECT o.id, c.* FROM o LEFT JOIN emogi_cc(''b'') c ON c.component = o.b', 'SELECT o.id, c.* FROM o JOIN emogi_cc_text(''t'') c ON c.component = o.t', 'SELECT o.id, c.* FROM o LEFT JOIN emogi_cc_uuid(''u'') c ON c.component = o.u AND c.vertex <> c.component',
  'SELECT o.id FROM o WHERE EXISTS (SELECT FROM emogi_cc_text(''t'') c WHERE c.component = o.t)', 'SELECT o.id FROM o WHERE NOT EXISTS (SELECT FROM emogi_cc_text(''t'') c WHERE c.component = o.t)', 'SELECT vertex FROM emogi_cc_text(''t'') WHERE component IN (SELECT t FROM o)',
  'SELECT o.id, s.n FROM o, LATERAL (SELECT count(*) AS n FROM emogi_cc_text(''t'') WHERE component = (SELECT component FROM emogi_cc_text(''t'') WHERE vertex = o.t)) s']) q;
RESET enable_hashjoin;
RESET enable_mergejoin;
PREPARE of_name(text) AS SELECT vertex FROM emogi_cc_text('t') WHERE component = $1 ORDER BY vertex;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_name('k50');
EXECUTE of_name(NULL);
EXECUTE of_name('k51');
RESET plan_cache_mode;
DEALLOCATE of_name;
-- The planner knows the size of a vertex's component once the graph has cached its components.
CREATE FUNCTION planned(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  EXECUTE 'EXPLAIN ' || query INTO line;
  RETURN substring(line FROM 'rows=(\d+)')::int;
END $$;
CREATE TABLE pairs AS SELECT 'p' || lpad((2 * i)::text, 5, '0') AS src, 'p' || lpad((2 * i + 1)::text, 5, '0') AS dst FROM generate_series(1, 5000) i UNION ALL SELECT 'q1', 'q' || i FROM generate_series(2, 2000) i;
SELECT count(*) FROM emogi_cc_text('pairs');
SELECT count(*), max(vertex) FROM emogi_cc_text('pairs') WHERE vertex <> component;
SELECT count(*), min(vertex) FROM emogi_cc_text('pairs') WHERE component = vertex AND vertex IN ('p09998', 'p09999', 'q1', 'q2');
SELECT planned(q) BETWEEN least AND most AS known FROM (VALUES
  ('SELECT component FROM emogi_cc_text(''pairs'') WHERE component = (SELECT ''p00004'')', 100, 800), ('SELECT vertex FROM emogi_cc_text(''pairs'') WHERE component IN (''p00004'', ''p00006'')', 2, 10),
  ('SELECT component, count(*) FROM emogi_cc_text(''pairs'') GROUP BY component', 4000, 6000), ('SELECT m.vertex FROM emogi_cc_text(''pairs'') s JOIN emogi_cc_text(''pairs'') m USING (component) WHERE s.vertex = ''p00005''', 1, 10)) q (q, least, most);
-- A cursor keeps the components that it reads while the graph is evicted and rebuilt.
BEGIN;
DECLARE kept CURSOR FOR SELECT vertex, component FROM emogi_cc_text('pairs') WHERE vertex < 'p00012';
FETCH 2 FROM kept;
SELECT emogi_evict('pairs') > 0;
INSERT INTO pairs VALUES ('p00002', 'p00008');
SELECT vertex, component FROM emogi_cc_text('pairs') WHERE component = 'p00002' ORDER BY vertex;
FETCH 100 FROM kept;
ROLLBACK;

-- The execution method after changes: edges inserted between components, new vertices before,
-- between and after others, and deleted edges.
CREATE FUNCTION last() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT format('%s by %s', cache, CASE engine WHEN 'backend' THEN engine ELSE 'the engine' END) FROM emogi_runs WHERE pid = pg_backend_pid() ORDER BY id DESC LIMIT 1 $$;
CREATE FUNCTION members(name text) RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT string_agg(vertex, ' ') FROM emogi_cc_text('t') WHERE component = name $$;
SELECT members('k50'), last();
INSERT INTO t VALUES ('k50', 'k82');
SELECT members('k50'), last();
SELECT members('k80'), last();
INSERT INTO t VALUES ('a', 'k80'), ('k80x', 'zz'), ('zz', 'k53'), ('y', 'y');
SELECT members('k50'), last();
SELECT members('a'), last();
SELECT members('y'), last();
SELECT members('zz'), last();
SELECT vertex, component FROM emogi_cc_text('t') WHERE component IN ('y', 'a', 'k70', 'k82', 'none') ORDER BY vertex;
SELECT count(*), count(DISTINCT component) FROM emogi_cc_text('t') WHERE component <> 'a';
BEGIN;
INSERT INTO t VALUES ('k10', 'a');
SELECT members('a'), last();
ROLLBACK;
SELECT members('a'), last();
DELETE FROM t WHERE dst = 'k82';
SELECT members('a');
SELECT members('k80');
SET emogi.enable_local_search = off;
SELECT members('a'), last();
RESET emogi.enable_local_search;

-- A large component is not listed: all rows are read.
CREATE TABLE chain AS SELECT 'c' || lpad(i::text, 5, '0') AS src, 'c' || lpad((i + 1)::text, 5, '0') AS dst FROM generate_series(1, 9000) i;
SELECT count(*) FROM emogi_cc_text('chain');
SELECT count(*), min(vertex), max(vertex) FROM emogi_cc_text('chain') WHERE component = 'c00001';
SELECT count(*) FROM emogi_cc_text('chain') WHERE component = 'c00002';
DELETE FROM chain WHERE src IN ('c01500', 'c03000', 'c04500');
SELECT count(*) FROM emogi_cc_text('chain');
SELECT count(*), min(vertex), max(vertex) FROM emogi_cc_text('chain') WHERE component = 'c01501';
SELECT component, count(*) FROM emogi_cc_text('chain') WHERE component IN ('c01501', 'c00001') GROUP BY component;
SELECT last();

-- Parallel workers receive the keys of the few rows reached by a search for new vertices, and of
-- one without a graph.
CREATE TABLE wide AS SELECT 'w' || i AS src, 'w' || i % 3000 AS dst FROM generate_series(1, 9000) i;
CREATE INDEX ON wide (src);
ANALYZE wide;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET emogi.enable_aggregates = off;
SET emogi.index_search_min_size = 0;
SET parallel_leader_participation = off;
CREATE FUNCTION is_shared(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'Parallel Custom Scan' THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;
SELECT is_shared($$SELECT vertex FROM emogi_bfs('wide', 'w7', 3) ORDER BY level, vertex$$);
SELECT vertex, level FROM emogi_bfs('wide', 'w3007', 3) ORDER BY level DESC, vertex;
SELECT last();
SELECT count(*) FROM emogi_bfs('wide', 'w7', direction => 'both');
INSERT INTO wide VALUES ('new1', 'new2'), ('new2', 'new3');
SELECT is_shared($$SELECT min(vertex) FROM emogi_bfs('wide', 'new1', direction => 'both')$$);
SELECT min(vertex), max(vertex), count(*) FROM emogi_bfs('wide', 'new1', direction => 'both');
SELECT last();

SET client_min_messages = warning;
DROP SCHEMA test_component_keys CASCADE;
