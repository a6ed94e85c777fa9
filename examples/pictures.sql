-- Functions that draw a neighbourhood: as a text for Graphviz, and as the two frames of Grafana's node graph. Optional: run it once in a database that has
-- emogi, in the schema where the functions are to be. docs/pictures.md shows what they draw.
--
--   psql -f examples/pictures.sql
--   psql -XAt -c "SELECT emogi_dot('follows', 1)" | dot -Tsvg >follows.svg
--
-- The vertices nearest to the source are drawn, up to max_vertices, and the edges among them, up to max_edges. They are reached by emogi_bfs within max_depth
-- edges (2 unless given), or, where max_distance is given, by emogi_sssp within that sum of weights. The caller's rights count.
BEGIN;

-- The vertices that are drawn, the nearest first, with their names; total is how many there are within reach. `names` is a query of vertices and
-- names. Among equally near ones the order is that of the keys, in which emogi returns them.
CREATE OR REPLACE FUNCTION emogi_picture_vertices(graph text, sources text[], max_depth int, max_distance float8, max_vertices int, direction text, names text)
RETURNS TABLE (place bigint, vertex text, name text, distance float8, total bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
DECLARE
    -- A text alone may be an array of integers, '{1,2}', to emogi.
    source  text := CASE WHEN cardinality(sources) = 1 THEN '$2[1]' ELSE '$2' END;
    reached text;
    type    text;
BEGIN
    IF max_depth IS NOT NULL AND max_distance IS NOT NULL THEN
        RAISE 'max_depth and max_distance are given at once' USING ERRCODE = '22023', HINT = 'Give one of them.';
    END IF;
    IF max_vertices < 1 THEN
        RAISE 'max_vertices % is below 1', max_vertices USING ERRCODE = '22023';
    END IF;
    reached := CASE WHEN max_distance IS NULL
        THEN format('SELECT vertex, level::float8 AS distance FROM emogi_bfs($1, %s, coalesce($3, 2), $5)', source)
        ELSE format('SELECT vertex, distance FROM emogi_sssp($1, %s, $4, $5)', source) END;
    IF names IS NOT NULL THEN
        -- A semicolon at the end would end the whole, and a comment behind it; in a string they have a quote behind them.
        names := regexp_replace(names, ';(\s|--[^''"$*\n]*(\n|$))*$', '');
        EXECUTE format(E'SELECT format_type(pg_typeof(vertex), -1) FROM (%s\n) AS n(vertex, name) LIMIT 1', names) INTO type;
    END IF;
    RETURN QUERY EXECUTE format('WITH reached AS (
            SELECT *, row_number() OVER () AS nth, count(*) OVER () AS total FROM (%s) AS r
        ), best AS MATERIALIZED (
            SELECT row_number() OVER (ORDER BY distance, nth) AS place, vertex, distance, total FROM reached ORDER BY distance, nth LIMIT $6
        )
        SELECT b.place, b.vertex, coalesce(n.name, b.vertex), b.distance, b.total
        FROM best AS b LEFT JOIN LATERAL (%s) AS n ON true
        ORDER BY b.place', reached,
        CASE WHEN type IS NULL THEN 'SELECT NULL::text AS name'
            ELSE format(E'SELECT n.name::text FROM (%s\n) AS n(vertex, name) WHERE n.vertex = b.vertex::%s ORDER BY 1 LIMIT 1', names, type) END)
        USING graph, sources, max_depth, max_distance, direction, max_vertices;
END
$$;

-- The rows of a graph: the query that emogi_with_vertices makes of any graph argument, and conditions that an end in it, q.src or q.dst, is the vertex of v or w.
-- They are compared in the type of the keys, so that an index on them serves; a row has only its text. format_type with -1 names types that take all lengths:
-- pg_typeof's character is one letter.
CREATE OR REPLACE FUNCTION emogi_picture_rows(graph text, OUT query text, OUT weighted boolean, OUT src_is_v text, OUT dst_is_v text, OUT dst_is_w text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
DECLARE
    type  text;
    equal text;
BEGIN
    -- The list without vertices goes again: it is of text, and the graph may have a column of vertices that are not.
    query := regexp_replace(emogi_with_vertices(graph, 'SELECT NULL::text WHERE false'), ' UNION ALL SELECT [NUL, ]+, v FROM \(SELECT NULL::text WHERE false\s*\) AS v\(v\)$', '');
    EXECUTE format('SELECT format_type(pg_typeof(src), -1), to_jsonb(q) ? ''weight'' FROM (%s) AS q WHERE src IS NOT NULL LIMIT 1', query) INTO type, weighted;
    equal := CASE WHEN type = 'record' THEN '%I.vertex = format(''%%s'', q.%I)' ELSE '%I.vertex::' || coalesce(type, 'text') || ' = q.%I' END;
    src_is_v := format(equal, 'v', 'src');
    dst_is_v := format(equal, 'v', 'dst');
    dst_is_w := format(equal, 'w', 'dst');
END
$$;

-- The edges among vertices, as stored, those of the nearest vertices first; total is how many there are.
CREATE OR REPLACE FUNCTION emogi_picture_edges(graph text, vertices text[], max_edges int)
RETURNS TABLE (nth bigint, src text, dst text, weight float8, total bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
DECLARE
    rows record;
BEGIN
    IF max_edges < 0 THEN
        RAISE 'max_edges % is negative', max_edges USING ERRCODE = '22023';
    END IF;
    IF vertices IS NULL THEN
        RETURN;
    END IF;
    SELECT * INTO rows FROM emogi_picture_rows(graph);
    RETURN QUERY EXECUTE format('WITH near AS (
            SELECT vertex, place FROM unnest($1) WITH ORDINALITY AS u(vertex, place)
        ), e AS (
            SELECT v.vertex AS src, w.vertex AS dst, %s AS weight, v.place AS one, w.place AS other FROM (%s) AS q JOIN near AS v ON %s JOIN near AS w ON %s
        )
        SELECT row_number() OVER (ORDER BY greatest(one, other), least(one, other), one, weight), src, dst, weight, count(*) OVER () FROM e ORDER BY 1 LIMIT $2',
        CASE WHEN rows.weighted THEN 'q.weight::float8' ELSE 'NULL::float8' END, rows.query, rows.src_is_v, rows.dst_is_w)
        USING vertices, max_edges;
END
$$;

-- How many edges of the whole graph each vertex has; a loop is one. emogi_degree would keep a graph with weights for it.
CREATE OR REPLACE FUNCTION emogi_picture_degrees(graph text, vertices text[]) RETURNS TABLE (vertex text, degree bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
DECLARE
    rows record;
BEGIN
    IF vertices IS NULL THEN
        RETURN;
    END IF;
    SELECT * INTO rows FROM emogi_picture_rows(graph);
    RETURN QUERY EXECUTE format('WITH near AS (
            SELECT vertex FROM unnest($1) AS vertex
        )
        SELECT vertex, count(*) FROM (
            SELECT v.vertex FROM (%1$s) AS q JOIN near AS v ON %2$s WHERE q.dst IS NOT NULL
            UNION ALL SELECT v.vertex FROM (%1$s) AS q JOIN near AS v ON %3$s WHERE q.src <> q.dst) AS ends
        GROUP BY vertex', rows.query, rows.src_is_v, rows.dst_is_v)
        USING vertices;
END
$$;

-- A number as a person writes it: to four places.
CREATE OR REPLACE FUNCTION emogi_picture_number(number float8) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN abs(number) < 1e12 THEN trim_scale(round(number::numeric, 4))::text ELSE number::text END $$;

-- A blue that is the paler the farther: 0 is a source, 1 the farthest that is drawn.
CREATE OR REPLACE FUNCTION emogi_picture_color(share float8) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT '#' || string_agg(lpad(to_hex(round(near + (far - near) * share)::int), 2, '0'), '' ORDER BY nth)
   FROM (VALUES (1, 31, 222), (2, 119, 235), (3, 180, 247)) AS part(nth, near, far) $$;

-- A text in quotes, as Graphviz prints it as it is: it would take \n and \G for what they mean to it, and &lt; for a sign. Long ones are cut. Characters that XML does not
-- have would make an SVG that no program reads.
CREATE OR REPLACE FUNCTION emogi_picture_quoted(label text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT '"' || regexp_replace(regexp_replace(replace(replace(replace(CASE WHEN length(label) > 60 THEN left(label, 59) || '…' ELSE label END, '\', '\\'), '"', '\"'), '&', '&amp;'),
   '\r\n|\r|\n', '\\n', 'g'), '[\u0001-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]', '�', 'g') || '"' $$;

-- The neighbourhood as a text in the language of Graphviz.
CREATE OR REPLACE FUNCTION emogi_dot(graph text, source text[], max_depth int DEFAULT NULL, max_distance float8 DEFAULT NULL, max_vertices int DEFAULT 50,
    max_edges int DEFAULT 200, direction text DEFAULT 'both', names text DEFAULT NULL, directed boolean DEFAULT true)
RETURNS text LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$
    WITH v AS MATERIALIZED (
        SELECT * FROM emogi_picture_vertices(graph, source, max_depth, max_distance, max_vertices, direction, names)
    ), e AS MATERIALIZED (
        SELECT * FROM emogi_picture_edges(graph, (SELECT array_agg(vertex ORDER BY place) FROM v), max_edges)
    ), shades AS (
        SELECT *, coalesce(distance / nullif(max(distance) OVER (), 0), 0) AS share FROM v
    ), cut AS (
        SELECT concat_ws(', ', (SELECT format('%s of %s vertices', count(*), max(total)) FROM v HAVING count(*) < max(total)),
            (SELECT format('%s of %s edges', count(*), max(total)) FROM e HAVING count(*) < max(total))) AS note
    ), lines AS (
        SELECT 0 AS part, 0::bigint AS nth, 'digraph {' AS line
        UNION ALL SELECT 1, 0, '  graph [overlap=false, splines=true, outputorder=edgesfirst];'
        UNION ALL SELECT 1, 1, '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11, color="#1f77b4"];'
        UNION ALL SELECT 1, 2, '  edge [color="#888888", fontname="Helvetica", fontsize=9' || CASE WHEN directed THEN '' ELSE ', dir=none' END || '];'
        UNION ALL SELECT 1, 3, format('  label=%s; labelloc=b; fontname="Helvetica"; fontsize=11;', emogi_picture_quoted('Cut: ' || note)) FROM cut WHERE note <> ''
        UNION ALL SELECT 2, place, format('  n%s [label=%s, tooltip="distance %s", fillcolor="%s", fontcolor="%s"%s];', place, emogi_picture_quoted(name), emogi_picture_number(distance),
            emogi_picture_color(share), CASE WHEN share < 0.5 THEN 'white' ELSE 'black' END, CASE WHEN distance = 0 THEN ', peripheries=2' ELSE '' END) FROM shades
        UNION ALL SELECT 3, e.nth, format('  n%s -> n%s%s;', a.place, b.place, CASE WHEN e.weight IS NULL THEN '' ELSE format(' [label="%s"]', emogi_picture_number(e.weight)) END)
            FROM e JOIN v AS a ON a.vertex = e.src JOIN v AS b ON b.vertex = e.dst
        UNION ALL SELECT 4, 0, '}'
    )
    SELECT string_agg(line, E'\n' ORDER BY part, nth) FROM lines
$$;

-- The frame of nodes of Grafana's node graph. The ring around a node is the share of its edges that are drawn.
CREATE OR REPLACE FUNCTION emogi_grafana_nodes(graph text, source text[], max_depth int DEFAULT NULL, max_distance float8 DEFAULT NULL, max_vertices int DEFAULT 50,
    max_edges int DEFAULT 200, direction text DEFAULT 'both', names text DEFAULT NULL)
RETURNS TABLE (id text, title text, subtitle text, mainstat float8, secondarystat bigint, arc__drawn float8, arc__beyond float8, color text)
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$
    WITH v AS MATERIALIZED (
        SELECT * FROM emogi_picture_vertices(graph, source, max_depth, max_distance, max_vertices, direction, names)
    ), drawn AS (
        SELECT vertex, count(*) AS edges
        FROM emogi_picture_edges(graph, (SELECT array_agg(v.vertex ORDER BY place) FROM v), max_edges) AS e,
            unnest(CASE WHEN src = dst THEN ARRAY[src] ELSE ARRAY[src, dst] END) AS vertex
        GROUP BY vertex
    )
    SELECT v.vertex, v.name, CASE WHEN v.place = 1 AND count(*) OVER () < v.total THEN format('%s of %s are drawn', count(*) OVER (), v.total) ELSE nullif(v.vertex, v.name) END,
        v.distance, coalesce(d.degree, 0), coalesce(drawn.edges::float8 / d.degree, 0), coalesce(1 - coalesce(drawn.edges, 0)::float8 / d.degree, 0),
        emogi_picture_color(coalesce(v.distance / nullif(max(v.distance) OVER (), 0), 0))
    FROM v LEFT JOIN drawn USING (vertex)
        LEFT JOIN emogi_picture_degrees(graph, (SELECT array_agg(v.vertex ORDER BY place) FROM v)) AS d USING (vertex)
    ORDER BY v.place
$$;

-- The frame of edges, of the same arguments.
CREATE OR REPLACE FUNCTION emogi_grafana_edges(graph text, source text[], max_depth int DEFAULT NULL, max_distance float8 DEFAULT NULL, max_vertices int DEFAULT 50,
    max_edges int DEFAULT 200, direction text DEFAULT 'both', names text DEFAULT NULL)
RETURNS TABLE (id text, source text, target text, mainstat float8)
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$
    SELECT 'e' || nth, src, dst, weight
    FROM emogi_picture_edges(graph, (SELECT array_agg(vertex ORDER BY place)
        FROM emogi_picture_vertices(graph, $2, max_depth, max_distance, max_vertices, direction, NULL)), max_edges)
    ORDER BY nth
$$;

-- The same for one source, and for sources of other types.
DO $$
DECLARE
    form record;
BEGIN
    FOR form IN SELECT f.name, f.returns, f.tail, t.type FROM
        (VALUES ('emogi_dot', 'text', ', directed boolean DEFAULT true'),
                ('emogi_grafana_nodes', 'TABLE (id text, title text, subtitle text, mainstat float8, secondarystat bigint, arc__drawn float8, arc__beyond float8, color text)', ''),
                ('emogi_grafana_edges', 'TABLE (id text, source text, target text, mainstat float8)', '')) AS f(name, returns, tail),
        unnest(ARRAY['text', 'bigint', 'bigint[]', 'uuid', 'uuid[]']) AS t(type)
    LOOP
        EXECUTE format('CREATE OR REPLACE FUNCTION %1$I(graph text, source %2$s, max_depth int DEFAULT NULL, max_distance float8 DEFAULT NULL, max_vertices int DEFAULT 50,
            max_edges int DEFAULT 200, direction text DEFAULT ''both'', names text DEFAULT NULL%3$s)
            RETURNS %4$s LANGUAGE sql STABLE PARALLEL RESTRICTED AS
            ''SELECT * FROM %1$I($1, %5$s, $3, $4, $5, $6, $7, $8%6$s)''', form.name, form.type, form.tail, form.returns,
            CASE WHEN form.type LIKE '%[]' THEN '$2::text[]' ELSE 'ARRAY[$2::text]' END, CASE WHEN form.tail <> '' THEN ', $9' ELSE '' END);
    END LOOP;
END
$$;
COMMIT;
