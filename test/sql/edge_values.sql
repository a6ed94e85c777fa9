-- Columns with many different values, whose codes are not in the order of the type: each edge of a star passes or not as its row does.
CREATE EXTENSION IF NOT EXISTS emogi;
SET emogi.engine = auto;
SET emogi.enable_property_columns = on;
SET emogi.enable_index_search = off;
SET client_min_messages = warning;
-- 5,000 and 6,000 different values; 1.5 and 1.50, and char(n) values with and without blanks, are equal for their types
CREATE TABLE value_edges AS
SELECT 0 AS src, i AS dst, CASE WHEN i % 11 > 0 THEN md5((i % 6000)::text) END COLLATE "C" AS t,
  CASE WHEN i % 2 = 0 THEN round(i % 6000 / 4.0, 2) ELSE round(i % 6000 / 2, 1) END AS n, ('k' || i % 6000)::char(12) COLLATE "C" AS c,
  md5((i % 5000)::text)::uuid AS u
FROM generate_series(1, 120000) i;
ANALYZE value_edges;
SELECT count(*) FROM emogi_bfs('value_edges(src, dst)', 0);
CREATE FUNCTION value_call(filter text, OUT reached bigint, OUT masked boolean) LANGUAGE plpgsql AS
$$ DECLARE
  before bigint := (SELECT sum(hits) FROM emogi_graphs WHERE source = 'value_edges');
BEGIN
  SELECT count(*) INTO reached FROM emogi_bfs('value_edges(src, dst)', 0, edge_filter => filter) WHERE vertex > 0;
  masked := (SELECT sum(hits) FROM emogi_graphs WHERE source = 'value_edges') > before;
END $$;
-- some calls until a load pays
DO $$ BEGIN
  FOR i IN 1 .. 12 LOOP
    PERFORM value_call(format('t <> %L AND n > 3 AND c <> ''k7'' AND u IS NOT NULL', i));
  END LOOP;
END $$;
SELECT property_columns FROM emogi_graphs WHERE source = 'value_edges';
CREATE FUNCTION value_check(filter text, OUT reached bigint, OUT is_right boolean, OUT masked boolean) LANGUAGE plpgsql AS
$$ DECLARE
  expected bigint;
BEGIN
  EXECUTE 'SELECT count(*) FROM value_edges WHERE ' || filter INTO expected;
  SELECT call.reached, call.reached = expected, call.masked INTO reached, is_right, masked FROM value_call(filter) AS call;
END $$;
SELECT filter, checked.* FROM (VALUES
  ('t = md5(''17'')'), ('t = ''none'''), ('t <> md5(''17'')'), ('t IN (md5(''17''), md5(''18''), ''none'')'), ('t NOT IN (md5(''17''), md5(''18''))'),
  ('t = ANY (ARRAY[md5(''1''), NULL])'), ('t IS DISTINCT FROM md5(''17'')'), ('t LIKE ''a%'''), ('t NOT LIKE ''%f'''), ('t IS NULL'),
  ('t < ''8'''), ('t <= md5(''17'')'), ('t >= md5(''17'')'), ('t > md5(''17'')'), ('t BETWEEN ''3'' AND ''5'''), ('''8'' > t'), ('t < '''''), ('t >= '''''),
  ('n = 1.5'), ('n = 1.500'), ('n <> 2'), ('n IN (1, 2.0, 7000)'), ('n < 1.5'), ('n <= 1.50'), ('n > 1499'), ('n >= 0'), ('n = ''NaN'''),
  ('c = ''k5'''), ('c = ''k5   '''), ('c IN (''k5'', ''k77'')'), ('c < ''k3'''), ('c >= ''k59'''),
  ('u = md5(''77'')::uuid'), ('u < ''80000000-0000-0000-0000-000000000000'''), ('u >= md5(''77'')::uuid AND n < 100 OR t = md5(''3'')')) AS f (filter),
  value_check(filter) AS checked;
DROP TABLE value_edges;
DROP FUNCTION value_call, value_check;
