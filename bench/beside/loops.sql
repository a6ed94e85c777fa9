-- Loops for queries that need aggregates within a recursion, which PostgreSQL does not support:
-- minimum lengths, labels, sums of ranks. Intermediate tables are temporary.

-- Get the length of a shortest path by cost, or NULL if there is none. Each round relaxes the edges
-- of the vertices whose distance has decreased, until there are none. Vertices not closer than the
-- target are not expanded.
CREATE FUNCTION loop_path(s bigint, t bigint) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  nearer bigint := 1;
  round int := 0;
BEGIN
  DROP TABLE IF EXISTS best;
  CREATE TEMP TABLE best (v bigint PRIMARY KEY, d float8, changed int);
  INSERT INTO best VALUES (s, 0, 0);
  WHILE nearer > 0 LOOP
    INSERT INTO best AS b SELECT x.dst, x.d, round + 1
      FROM (SELECT e.dst, min(f.d + e.cost) AS d FROM best f JOIN edges e ON e.src = f.v WHERE f.changed = round GROUP BY e.dst) x
      WHERE x.d < coalesce((SELECT d FROM best WHERE v = t), 'Infinity')
      ON CONFLICT (v) DO UPDATE SET d = excluded.d, changed = excluded.changed WHERE excluded.d < b.d;
    GET DIAGNOSTICS nearer = ROW_COUNT;
    round := round + 1;
  END LOOP;
  RETURN (SELECT d FROM best WHERE v = t);
END $$;

-- Get the number of components, and the sum over all vertices of the smallest vertex of the
-- component: each vertex takes the minimum label of itself and its neighbours until nothing
-- changes.
CREATE FUNCTION loop_components(OUT components bigint, OUT labels numeric) LANGUAGE plpgsql AS $$
DECLARE
  changed bigint := 1;
BEGIN
  DROP TABLE IF EXISTS label;
  CREATE TEMP TABLE label AS SELECT v, v AS l FROM (SELECT src AS v FROM edges UNION SELECT dst FROM edges) x;
  ANALYZE label;
  WHILE changed > 0 LOOP
    CREATE TEMP TABLE next AS SELECT v, min(l) AS l
      FROM (SELECT v, l FROM label UNION ALL SELECT e.src, a.l FROM edges e JOIN label a ON a.v = e.dst UNION ALL SELECT e.dst, a.l FROM edges e JOIN label a ON a.v = e.src) x GROUP BY v;
    ANALYZE next;
    SELECT count(*) INTO changed FROM next n JOIN label a USING (v) WHERE n.l < a.l;
    DROP TABLE label;
    ALTER TABLE next RENAME TO label;
  END LOOP;
  SELECT count(*) FILTER (WHERE v = l), sum(l) INTO components, labels FROM label;
END $$;

-- Get the number of vertices, the maximum rank and the sum of squared ranks after a number of
-- PageRank iterations, with damping 0.85. The rank of vertices without outgoing edges is
-- distributed to all.
CREATE FUNCTION loop_pagerank(iterations int, OUT vertices bigint, OUT largest float8, OUT squares float8) LANGUAGE plpgsql AS $$
DECLARE
  n float8;
  lost float8;
BEGIN
  DROP TABLE IF EXISTS rank;
  CREATE TEMP TABLE rank AS SELECT v, sum(degree)::float8 AS degree, 0::float8 AS r
    FROM (SELECT src AS v, count(*) AS degree FROM edges GROUP BY src UNION ALL SELECT DISTINCT dst, 0::bigint FROM edges) x GROUP BY v;
  SELECT count(*) INTO n FROM rank;
  UPDATE rank SET r = 1 / n;
  ANALYZE rank;
  FOR i IN 1 .. iterations LOOP
    SELECT coalesce(sum(r), 0) INTO lost FROM rank WHERE degree = 0;
    CREATE TEMP TABLE next AS SELECT k.v, k.degree, (0.15 + 0.85 * lost) / n + 0.85 * coalesce(s.r, 0) AS r
      FROM rank k LEFT JOIN (SELECT e.dst, sum(a.r / a.degree) AS r FROM edges e JOIN rank a ON a.v = e.src GROUP BY e.dst) s ON s.dst = k.v;
    ANALYZE next;
    DROP TABLE rank;
    ALTER TABLE next RENAME TO rank;
  END LOOP;
  SELECT count(*), max(r), sum(r * r) INTO vertices, largest, squares FROM rank;
END $$;
