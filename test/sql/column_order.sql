-- Lists of columns that begin with the edge id, or end with a reverse weight, are rejected; those
-- of trees and junction tables are accepted.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_column_order;
SET search_path = test_column_order, public;
\pset format unaligned
\pset tuples_only on
CREATE FUNCTION count_of(graph text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  RETURN (SELECT count(*) FROM emogi_sssp(graph, 1));
EXCEPTION WHEN ambiguous_column OR undefined_column THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ' ' || SQLERRM || ' | ' || hint;
END $$;

-- The names of the second and third column are those of endpoints.
CREATE TABLE lane (lane_id int, from_site int, to_site int, cap int, id int);
INSERT INTO lane VALUES (7, 1, 2, 5, 7), (8, 2, 3, 7, 8);
SELECT count_of('lane(lane_id, from_site, to_site, cap)');
SELECT count_of('lane(lane_id, from_site, to_site)');
SELECT count_of('lane(from_site, to_site, cap, lane_id)');
SELECT count_of('lane(from_site, to_site)'), count_of('lane(lane_id, from_site)');
SELECT count_of('SELECT lane_id, from_site, to_site FROM lane');
SELECT count_of('SELECT from_site, to_site, cap FROM lane'), count_of('SELECT from_site, to_site, lane_id FROM lane');
SELECT emogi_max_flow('lane'::regclass, 1, 3, columns => 'lane_id, from_site, to_site, cap');
CREATE TABLE tenanted (tenant int, src int, dst int, amount int);
SELECT count_of('tenanted(tenant, src, dst, amount)');
SELECT count_of('tenanted(tenant, src, dst)');
SELECT * FROM emogi_sssp('tenanted', 1);
CREATE TABLE pairs (word int, a int, b int, node_a int, node_b int, node1 int, node2 int, sender_id int, receiver_id int, startnode int, endnode int, w int);
SELECT count_of('pairs(word, a, b, w)');
SELECT count_of('pairs(word, node_a, node_b)');
SELECT count_of('pairs(word, node1, node2)');
SELECT count_of('pairs(word, sender_id, receiver_id)');
SELECT count_of('pairs(word, startnode, endnode, w)');
CREATE TABLE span (from_start int, to_start int, to_end int);
SELECT count_of('span(from_start, to_start, to_end)'), count_of('span(from_start, to_end)');

-- osm2pgrouting's name of the edge id, with other names of endpoints, followed by a weight.
CREATE TABLE ways (gid int, x int, y int, cost int, reverse_cost int);
SELECT count_of('ways(gid, x, y, cost, reverse_cost)');
SELECT count_of('ways(gid, x, cost)'), count_of('ways(x, y, cost, reverse_cost, gid)');

-- Both columns reference one table.
CREATE TABLE site (id int PRIMARY KEY);
CREATE TABLE hop (h int, x int REFERENCES site, y int REFERENCES site, w int);
SELECT count_of('hop(h, x, y)');
SELECT count_of('hop(h, x, w)'), count_of('hop(x, y, h)');

SELECT count_of('hop(x, w, h)');
CREATE TABLE hop_named (id int, hop_named_id int, x int REFERENCES site, y int REFERENCES site, w int, parent int REFERENCES site);
SELECT count_of('hop_named(id, x, y, w)');
SELECT left(count_of('hop_named(hop_named_id, x, y)'), 5), count_of('hop_named(id, parent, x, w)'), count_of('hop_named(id, x, w)');

-- Keys and unique indexes are not used as evidence, so that a new one does not break a view.
CREATE TABLE keyed (k int PRIMARY KEY, x int, y int, w int, u int UNIQUE, p int);
CREATE UNIQUE INDEX ON keyed (p) WHERE p > 0;
SELECT count_of('keyed(k, x, y, w)'), count_of('keyed(u, x, y, w)'), count_of('keyed(k, x, y, w, u)'), count_of('keyed(p, x, y, w)');
SELECT count_of('keyed(k, x, y)'), count_of('keyed(k, x)'), count_of('keyed(x, y, w, k)');
CREATE TABLE bom (part_no int NOT NULL, assembly int, qty int, pos int);
INSERT INTO bom VALUES (1, 2, 5, 10), (2, 3, 7, 20);
CREATE VIEW bom_path AS SELECT edge FROM emogi_shortest_path('bom'::regclass, 1, 3, columns => 'part_no, assembly, qty, pos');
SELECT * FROM bom_path;
CREATE UNIQUE INDEX ON bom (part_no);
SELECT * FROM bom_path;

-- Trees, whose key is the first column, and junction tables, whose key has both endpoints.
CREATE TABLE part (id int PRIMARY KEY, part_id int UNIQUE, parent_id int, kg int, weight int, label text, made date, price numeric);
SELECT count_of('part(part_id, parent_id)'), count_of('part(id, parent_id)'), count_of('part(part_id, parent_id, kg)'),
  count_of('part(part_id, parent_id, weight, label)'), count_of('part(part_id, parent_id, kg, label)'), count_of('part(id, parent_id, price)');
SELECT count_of('part(id, parent_id, kg)'), count_of('part(parent_id, id, kg)'), count_of('part(id, parent_id, kg, part_id)');
CREATE TABLE comment (id int PRIMARY KEY, parent_id int REFERENCES comment (id), score int);
INSERT INTO comment VALUES (1, NULL, 0), (2, 1, 5), (3, 2, 7);
SELECT * FROM emogi_sssp('comment(id, parent_id, score)', 3);
SELECT * FROM emogi_sssp('SELECT id, parent_id, score FROM comment WHERE parent_id > 0', 3);
SELECT * FROM emogi_sssp('SELECT c.id, p.id, c.score FROM comment c JOIN comment p ON p.id = c.parent_id', 3);
CREATE TABLE item (id int PRIMARY KEY, next int REFERENCES item, other int REFERENCES item, pos int);
SELECT count_of('item(id, next, other)'), count_of('item(id, next, other, pos)'), count_of('SELECT id, next, pos FROM item');
CREATE TABLE emp (emp_no int PRIMARY KEY, boss int REFERENCES emp, hops int, contract int);
SELECT count_of('emp(emp_no, boss, hops, contract)');
CREATE TABLE chain (id int PRIMARY KEY, von int, nach int, laenge int);
SELECT count_of('chain(von, nach, laenge, id)'), count_of('chain(id, nach, laenge)');

-- Queries: only a pair of endpoints after the first column is rejected.
SELECT count_of('SELECT id, von AS node_a, nach AS node_b FROM chain');
SELECT count_of('SELECT id AS weight, von, nach FROM chain');

-- The HINT preserves the schema and quotes names.
CREATE SCHEMA "Other";
CREATE TABLE "Other"."Lane" (id int, "A" int, a int, b int, w int);
SELECT count_of('"Other"."Lane"(id, a, b, w)');
SELECT count_of('SELECT a AS src, b AS dst, w AS weight, id FROM "Other"."Lane"'), count_of('SELECT id AS src, a AS dst, b AS weight, w AS id FROM "Other"."Lane"');
DROP TABLE "Other"."Lane";
DROP SCHEMA "Other";

CREATE TABLE friendship (person_id int, friend_id int, since int, weight int, PRIMARY KEY (person_id, friend_id));
SELECT count_of('friendship(person_id, friend_id)'), count_of('friendship(person_id, friend_id, since)'), count_of('friendship(person_id, friend_id, since, weight)');

-- A fourth column of four with the name of a reverse weight.
CREATE TABLE road (a int, b int, km int, km_back int, reverse_km numeric, rev_km int, km_reverse float8, way_back text, reverse_cost int, reverse_capacity int, c int, c_back text);
INSERT INTO road VALUES (2, 1, 5, 6, 7, 8, 9, 'x', 10, 11, 12, 'y');
SELECT count_of('road(a, b, km, km_back)');
SELECT count_of('road(a, b, km, reverse_km)');
SELECT count_of('road(a, b, rev_km, km_back)'), count_of('road(a, b, c, reverse_km)');
SELECT left(count_of('road(a, b, km, rev_km)'), 5), left(count_of('road(a, b, km, km_reverse)'), 5), left(count_of('road((a, c), (b, c), km, km_back)'), 5);
SELECT count_of('road(a, b, km, way_back)'), count_of('road(a, b, km, reverse_cost)'), count_of('road(a, b, km, reverse_capacity)'), count_of('road(a, b, km, km_back, c)'), count_of('road(a, b, km_back)'), count_of('road(a, b, c, c_back)');
SELECT count_of('SELECT a AS src, b AS dst, km AS cost, km_back AS reverse_cost FROM road');
