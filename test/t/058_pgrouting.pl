# The functions of examples/pgrouting.sql return pgRouting's rows on random road-like graphs with
# one-way streets, parallel edges and loops: the same edges and the same costs. Costs are drawn from
# a large range, so that there are no ties. pgr_bdDijkstra is compared with pgRouting's
# pgr_dijkstra, because pgRouting's own (3.4.2) sometimes finds a longer path if edges lead in both
# directions. Its pgr_aStar does not return a path if directed is false, and its pgr_drivingDistance
# with equicost assigns vertices to more distant roots. Its pgr_bridges treats a row of two
# different costs as two edges, and its pgr_biconnectedComponents assigns parallel edges and loops
# to any component, so these are compared on graphs without them. Without pgRouting, comparisons are
# skipped; the script is still loaded and tested. EMOGI_ROAD_GRAPHS sets the number of graphs.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $graphs = $ENV{EMOGI_ROAD_GRAPHS} || 300;
my $seed = $ENV{EMOGI_ROAD_SEED} || 58;
my $script = "$FindBin::RealBin/../../examples/pgrouting.sql";
my $node = emogi_node('main', 'emogi.cpu_threads = 2');

sub sql { return $node->safe_psql('postgres', join("\n", @_)); }

$node->command_ok([ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', $script ], 'the script is loaded') for 1 .. 2;

my $edges = 'SELECT id, source, target, cost, reverse_cost FROM roads';
sql("CREATE TABLE roads (id int, source int, target int, cost float8, reverse_cost float8);", "INSERT INTO roads VALUES (7, 1, 2, 1, -1), (8, 2, 3, 2, 2)");
is(sql("SELECT * FROM emogi_pgr.pgr_dijkstra('$edges', 1, 3)"), "1|1|1|7|1|0\n2|2|2|8|2|1\n3|3|3|-1|0|3", 'rows of a path');
is(sql("SELECT * FROM emogi_pgr.pgr_dijkstra('$edges', 3, 1)"), '', 'no way');
is(sql("SET search_path = emogi_pgr, public; SELECT count(*) FROM pgr_dijkstra('$edges', 1, ARRAY[2, 3]) UNION ALL SELECT count(*) FROM pgr_dijkstra('$edges', ARRAY[1, 2], ARRAY[3]) UNION ALL SELECT count(*) FROM pgr_dijkstraCostMatrix('$edges', ARRAY[1, 3])"),
	"5\n5\n1", 'arrays of integers, with pgRouting later in the search path');
is(sql("SELECT string_agg(DISTINCT from_v::text, ',') FROM (SELECT from_v FROM emogi_pgr.pgr_drivingDistance('$edges', ARRAY[3, 1], 9) ORDER BY seq LIMIT 1) d"), '3', 'distances in the order of the array');
is(sql("SELECT * FROM emogi_pgr.pgr_dijkstra('$edges', 3, 1, false)"), "1|1|3|8|2|0\n2|2|2|7|1|2\n3|3|1|-1|0|3", 'either way');

# Arguments for which pgRouting returns no rows.
is(sql("SELECT count(*) FROM emogi_pgr.$_"), '0', $_) for "pgr_dijkstra('$edges', 2, 1, NULL::boolean)", 'pgr_dijkstra(NULL::text, 1, 2)', "pgr_dijkstra('$edges', NULL::text)",
	"pgr_dijkstra('$edges', NULL::int[], 2)", "pgr_aStar('$edges', 1, 3, heuristic => NULL)", 'pgr_dijkstraCost(NULL::text, 1, ARRAY[2])', "pgr_dijkstraCostMatrix('$edges', NULL::int[])",
	"pgr_drivingDistance('$edges', 2::bigint, NULL::float8)", "pgr_drivingDistance('$edges', 2, -1)", "pgr_drivingDistance('$edges', ARRAY[2, 1], 'NaN'::float8)",
	"pgr_drivingDistance('$edges', NULL::bigint, 1)", (map { "pgr_KSP('$edges', 1, 3, $_)" } '0', '-1', 'NULL'), 'pgr_connectedComponents(NULL)', 'pgr_bridges(NULL)';
is(sql("PREPARE path(text, bigint, bigint, boolean) AS SELECT count(*) FROM emogi_pgr.pgr_dijkstra(\$1, \$2, \$3, \$4);", 'SET plan_cache_mode = force_generic_plan;',
		"EXECUTE path(NULL, 1, 3, true);", "EXECUTE path('$edges', 1, 3, NULL);", "EXECUTE path('$edges', 1, 3, true)"), "0\n0\n3", 'NULL in a generic plan');
is(sql("SELECT string_agg(node::text, ' ' ORDER BY seq) FROM emogi_pgr.pgr_drivingDistance('$edges', ARRAY[3, 1, 3], 2)"), '3 2 1 2 3 2', 'a duplicate root');
is(sql("SELECT string_agg(node::text, ' ' ORDER BY seq) FROM emogi_pgr.pgr_drivingDistance('$edges', ARRAY[3, 1, 3], 1, true, true)"), '3 1 2 3', 'a duplicate root, with equicost');
is(sql("SELECT count(*) FROM emogi_pgr.pgr_dijkstra('$edges', 'SELECT 1 AS source, 3 AS target -- both ends')"), '3', 'combinations that end with a comment');
is(sql("SELECT * FROM emogi_pgr.pgr_dijkstraCost('$edges', 'SELECT 1 AS source, 3 AS target UNION SELECT 3, 1')"), '1|3|3', 'sums of combinations');

# A row is one edge: both streets are bridges, including the two-way one.
is(sql("SELECT string_agg(edge::text, ' ') FROM emogi_pgr.pgr_bridges('$_')"), '7 8', "bridges: $_")
	for $edges, 'SELECT id, source, target, cost FROM roads -- one way', 'roads', 'roads(source, target, cost, reverse_cost, id)', 'roads(source, target, cost, id)', 'TABLE roads;';
is(sql("SELECT string_agg(edge::text, ' ') FROM emogi_pgr.pgr_bridges('$_')"), '-1 -1', "bridges without names: $_") for 'roads(source, target)', 'SELECT source, target, cost FROM roads';
# Endings of queries used by other systems, and nested comments.
for my $form ("E'SELECT * FROM roads;\\r\\n'", "E'SELECT * FROM roads\\t;\\f\\n'", "'/* a /* b /* c */ */ d */ SELECT * FROM roads'", "'-- /* a\n/**//***/SELECT * FROM roads'")
{
	is(sql("SELECT string_agg(edge::text, ' ') FROM emogi_pgr.pgr_bridges($form)"), '7 8', "bridges: $form");
	is(sql("SELECT string_agg(edge::text, ' ' ORDER BY seq) FROM emogi_pgr.pgr_dijkstra($form, 1, 3)"), '7 8 -1', "a path: $form");
}
# Columns that emogi would interpret and pgRouting ignores.
sql('CREATE TABLE odd AS SELECT id, source, target, cost, reverse_cost, 40 + id AS weight, 1::text AS src, 2::text AS dst, 99 AS vertex FROM roads');
is(sql("SELECT string_agg(node || ':' || edge || ':' || agg_cost, ' ') FROM emogi_pgr.pgr_dijkstra('SELECT * FROM odd', 1, 3)"), '1:7:0 2:8:1 3:-1:3', 'other columns are ignored');
is(sql("SELECT string_agg(node::text, ' ' ORDER BY node) FROM emogi_pgr.pgr_connectedComponents('SELECT * FROM odd')"), '1 2 3', 'nor for components');
is(sql("SELECT string_agg(node || ':' || edge, ' ') FROM emogi_pgr.pgr_dijkstra('SELECT source, target, cost FROM odd', 1, 3)"), '1:-1 2:-1 3:-1', 'edges without names');
my ($status, $out, $err) = $node->psql('postgres', "SELECT * FROM emogi_pgr.pgr_dijkstra('SELECT id, source, target, cost AS costs, reverse_cost FROM odd', 1, 3)");
like($err, qr/column "cost" does not exist/, 'a query without cost');
is(sql("SELECT count(*) FROM emogi_pgr.pgr_connectedComponents('/* a * b **/ -- c\n (SELECT * FROM odd)')"), '3', 'a query that begins with comments');
is(sql("SELECT count(*) FROM emogi_pgr.pgr_bridges('-- c\nSELECT * FROM odd')"), sql("SELECT count(*) FROM emogi_pgr.pgr_bridges('SELECT * FROM odd')"), 'and of bridges');
for my $wrong ('SELECT id, source, target, cost, reverse_cost FROM nameless', 'SELECT id, source, target, cost FROM nameless WHERE id <> 7', 'SELECT source, target, cost FROM nameless WHERE reverse_cost > 0')
{
	sql('CREATE TABLE IF NOT EXISTS nameless AS SELECT 1 AS source, 2 AS target, 1 AS cost');
	($status, $out, $err) = $node->psql('postgres', "SELECT * FROM emogi_pgr.pgr_dijkstra('$wrong', 1, 2)");
	like($err, qr/column "(id|reverse_cost)" does not exist/, "a missing column: $wrong");
}
sql('CREATE ROLE anybody;', 'GRANT SELECT ON roads TO anybody;');
is(sql('SET ROLE anybody;', "SET search_path = emogi_pgr, public;", "EXPLAIN (COSTS OFF) SELECT * FROM pgr_dijkstra('roads', 1, 3)") =~ /EmogiScan/ ? 1 : 0, 1, 'any role can use the functions');
is(sql("SELECT string_agg(edge::text, ' ') FROM emogi_pgr.pgr_bridges('roads(source, target, cost, reverse_cost)')"), '-1 -1', 'bridges without an id column, which reverse_cost is not');
is(sql(q{CREATE SCHEMA theirs; CREATE FUNCTION theirs.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS $$ SELECT 'SELECT 666::bigint' $$;
	SET search_path = theirs, public; SELECT string_agg(edge::text, ' ') FROM emogi_pgr.pgr_bridges('TABLE public.roads')}), '7 8', 'a function format of another role is not called');
is(sql("SELECT * FROM emogi_pgr.pgr_topologicalSort('SELECT source, target FROM roads')"), "1|1\n2|2\n3|3", 'an order');

sql('CREATE TABLE "odd (t)" AS SELECT id, source AS "a,b", target AS "c)d", cost FROM roads');
is(sql(q{SELECT string_agg(edge::text, ' ') FROM emogi_pgr.pgr_bridges('public."odd (t)"("a,b", "c)d", cost, id)')}), '7 8', 'bridges of a table and columns with any name');

# emogi in a schema that is not in search_path.
sql('CREATE DATABASE elsewhere');
$node->safe_psql('elsewhere', 'CREATE SCHEMA "My \'Graphs\'"; CREATE EXTENSION emogi SCHEMA "My \'Graphs\'"');
$node->command_ok([ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('elsewhere'), '-f', $script ], 'the script is loaded where emogi is in another schema');
$node->safe_psql('elsewhere', 'CREATE TABLE roads AS SELECT 1 AS id, 1 AS source, 2 AS target, 1 AS cost');
is($node->safe_psql('elsewhere', "SELECT count(*) FROM emogi_pgr.$_"), $_ =~ /dijkstra\(/ ? '2' : $_ =~ /driving/ ? '2' : '1', "emogi in another schema: $_")
	for "pgr_dijkstra('TABLE roads', 1, 2)", "pgr_drivingDistance('TABLE roads', 1, 9)", "pgr_bridges('TABLE roads')", "pgr_dijkstraCost('TABLE roads', 1, 2)";

SKIP:
{
	skip 'pgRouting is not installed', 1 if sql("SELECT count(*) FROM pg_available_extensions WHERE name IN ('pgrouting', 'postgis')") < 2;
	sql("CREATE EXTENSION pgrouting CASCADE;", <<~'END');
		CREATE PROCEDURE make(n int, seed float8) LANGUAGE plpgsql AS $$
		DECLARE side CONSTANT int := 3 + n % 7;
		BEGIN
		  PERFORM setseed(seed);
		  TRUNCATE roads;
		  INSERT INTO roads SELECT row_number() OVER (), a, b, CASE WHEN random() < 0.15 THEN -1 ELSE 1 + random() END, CASE WHEN random() < 0.25 THEN -1 ELSE 1 + random() END
		    FROM (SELECT y * side + x AS a, y * side + x + 1 AS b FROM generate_series(0, side - 1) y, generate_series(0, side - 2) x WHERE random() < 0.9
		      UNION ALL SELECT y * side + x, (y + 1) * side + x FROM generate_series(0, side - 2) y, generate_series(0, side - 1) x WHERE random() < 0.9) s;
		  INSERT INTO roads SELECT 1000 + id, target, source, random() * 4, random() * 4 FROM roads WHERE random() < 0.1;
		  INSERT INTO roads SELECT 2000 + id, source, source, 1, 1 FROM roads WHERE random() < 0.05;
		END $$;
		-- Number of rows that only one of two calls returns.
		CREATE FUNCTION differ(call text, peers text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql AS $$
		DECLARE n bigint;
		BEGIN
		  EXECUTE format('WITH ours AS (SELECT * FROM emogi_pgr.%1$s), theirs AS (SELECT * FROM public.%2$s)
		    SELECT (SELECT count(*) FROM ((TABLE ours EXCEPT TABLE theirs) UNION ALL (TABLE theirs EXCEPT TABLE ours)) d)', call, coalesce(peers, call)) INTO n;
		  RETURN n;
		END $$;
		-- Sums are rounded, because pgRouting may add in another order.
		CREATE FUNCTION costs_differ(call text, peers text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql AS $$
		DECLARE n bigint;
		BEGIN
		  EXECUTE format('SELECT count(*) FROM emogi_pgr.%1$s a FULL JOIN public.%2$s b USING (start_vid, end_vid) WHERE a.agg_cost IS NULL OR b.agg_cost IS NULL OR abs(a.agg_cost - b.agg_cost) > 1e-9', call, coalesce(peers, call)) INTO n;
		  RETURN n;
		END $$;
		-- Trees: costs are rounded like sums; a root has no edge, whereas pgRouting returns one from the root to itself.
		CREATE FUNCTION tree(call text) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
		BEGIN
		  RETURN QUERY EXECUTE format('SELECT to_jsonb(d) - ''{seq,edge,cost,agg_cost}''::text[] || jsonb_build_object(''a'', round(agg_cost::numeric, 9), ''edge'', CASE WHEN agg_cost > 0 THEN edge END,
		    ''c'', CASE WHEN agg_cost > 0 THEN round(cost::numeric, 9) END) FROM %s d', call);
		END $$;
		CREATE FUNCTION trees_differ(call text) RETURNS bigint LANGUAGE sql AS $$
		  WITH ours AS (SELECT * FROM tree('emogi_pgr.' || call)), theirs AS (SELECT * FROM tree('public.' || call))
		  SELECT count(*) FROM ((TABLE ours EXCEPT TABLE theirs) UNION ALL (TABLE theirs EXCEPT TABLE ours)) d
		$$;
		CREATE FUNCTION check_graph() RETURNS text LANGUAGE plpgsql AS $$
		DECLARE
		  q CONSTANT text := quote_literal('SELECT id, source, target, cost, reverse_cost FROM roads');
		  simple CONSTANT text := quote_literal('SELECT id, source, target, cost, reverse_cost FROM roads WHERE id < 1000');
		  places CONSTANT text := quote_literal('SELECT id, source, target, cost, reverse_cost, source AS x1, 0 AS y1, target AS x2, 0 AS y2 FROM roads');
		  -- One row per edge: no loops and no parallel edges.
		  plain CONSTANT text := quote_literal('SELECT DISTINCT ON (least(source, target), greatest(source, target)) id, source, target, abs(cost) AS cost, abs(cost) AS reverse_cost
		    FROM roads WHERE source <> target AND cost <> -1 ORDER BY least(source, target), greatest(source, target), id');
		  ends CONSTANT text := (SELECT quote_literal(array_agg(v)) || '::bigint[]' FROM (SELECT DISTINCT source AS v FROM roads ORDER BY 1 LIMIT 12) s);
		  s bigint; t bigint; way text; call text; bad text := ''; n bigint;
		BEGIN
		  SELECT source, target INTO s, t FROM (SELECT source FROM roads ORDER BY random() LIMIT 1) a, (SELECT target FROM roads ORDER BY random() LIMIT 1) b;
		  FOREACH way IN ARRAY ARRAY['true', 'false'] LOOP
		    FOREACH call IN ARRAY ARRAY[format('pgr_dijkstra(%s, %s, %s, %s)', q, s, t, way), format('pgr_dijkstra(%s, %s, %s, %s)', q, s, ends, way),
		        format('pgr_dijkstra(%s, %s, %s, %s)', q, ends, t, way), format('pgr_dijkstra(%s, %s, %s, %s)', q, ends, ends, way),
		        format('pgr_dijkstra(%s, %L, %s)', q, 'SELECT source, target FROM roads WHERE id % 5 = 0', way)] LOOP
		      IF differ(call) > 0 THEN
		        bad := bad || call || E'\n';
		      END IF;
		    END LOOP;
		    IF differ(format('pgr_aStar(%s, %s, %s, %s)', places, s, t, way),
		        CASE WHEN way = 'true' THEN format('pgr_aStar(%s, %s, %s, true, 0)', places, s, t) ELSE format('pgr_dijkstra(%s, %s, %s, false)', q, s, t) END) > 0 THEN
		      bad := bad || 'pgr_aStar' || E'\n';
		    END IF;
		    FOREACH call IN ARRAY ARRAY[format('pgr_drivingDistance(%s, %s, 3.5, %s)', q, s, way), format('pgr_drivingDistance(%s, %s, 2.5, %s)', q, ends, way)] LOOP
		      IF trees_differ(call) > 0 THEN
		        bad := bad || call || E'\n';
		      END IF;
		    END LOOP;
		    -- pgRouting's own (3.4.2) exhausts memory if edges are parallel, or if there are fewer paths than requested.
		    EXECUTE format('SELECT count(DISTINCT path_id) FROM emogi_pgr.pgr_KSP(%s, %s, %s, 7, %s)', simple, s, t, way) INTO n;
		    IF n = 7 AND trees_differ(format('pgr_KSP(%s, %s, %s, 7, %s)', simple, s, t, way)) > 0 THEN
		      bad := bad || 'pgr_KSP ' || way || E'\n';
		    END IF;
		    -- With equicost each vertex belongs to the nearest root; computed from the trees of each root.
		    EXECUTE format('SELECT count(*) FROM emogi_pgr.pgr_drivingDistance(%1$s, %2$s, 1.5, %3$s, true) a
		      FULL JOIN (SELECT DISTINCT ON (node) * FROM public.pgr_drivingDistance(%1$s, %2$s, 1.5, %3$s) ORDER BY node, agg_cost, from_v) b USING (from_v, node)
		      WHERE a.agg_cost IS NULL OR b.agg_cost IS NULL OR abs(a.agg_cost - b.agg_cost) > 1e-9', q, ends, way) INTO n;
		    IF n > 0 THEN
		      bad := bad || 'pgr_drivingDistance, equicost' || E'\n';
		    END IF;
		    IF differ(format('pgr_bdDijkstra(%s, %s, %s, %s)', q, s, t, way), format('pgr_dijkstra(%s, %s, %s, %s)', q, s, t, way)) > 0 THEN
		      bad := bad || 'pgr_bdDijkstra' || E'\n';
		    END IF;
		    FOREACH call IN ARRAY ARRAY[format('(%s, %s, %s, %s)', places, s, ends, way), format('(%s, %s, %s, %s)', places, ends, t, way),
		        format('(%s, %s, %s, %s)', places, ends, ends, way), format('(%s, %L, %s)', places, 'SELECT source, target FROM roads WHERE id % 5 = 0', way)] LOOP
		      IF differ('pgr_aStar' || call, 'pgr_dijkstra' || call) + differ('pgr_bdAstar' || call, 'pgr_dijkstra' || call) + differ('pgr_bdDijkstra' || call, 'pgr_dijkstra' || call) > 0 THEN
		        bad := bad || 'pgr_aStar, pgr_bdAstar, pgr_bdDijkstra ' || call || E'\n';
		      END IF;
		      IF costs_differ('pgr_aStarCost' || call, 'pgr_dijkstraCost' || call) + costs_differ('pgr_bdAstarCost' || call, 'pgr_dijkstraCost' || call) > 0 THEN
		        bad := bad || 'pgr_aStarCost, pgr_bdAstarCost ' || call || E'\n';
		      END IF;
		    END LOOP;
		    IF costs_differ(format('pgr_aStarCostMatrix(%s, %s, %s)', places, ends, way), format('pgr_dijkstraCostMatrix(%s, %s, %s)', places, ends, way)) > 0 THEN
		      bad := bad || E'pgr_aStarCostMatrix\n';
		    END IF;
		    FOREACH call IN ARRAY ARRAY[format('pgr_dijkstraCost(%s, %s, %s, %s)', q, ends, ends, way), format('pgr_dijkstraCost(%s, %L, %s)', q, 'SELECT source, target FROM roads WHERE id % 5 = 0', way), format('pgr_dijkstraCostMatrix(%s, %s, %s)', q, ends, way),
		        format('pgr_dijkstraCost(%s, %s, %s, %s)', q, s, t, way)] LOOP
		      IF costs_differ(call) > 0 THEN
		        bad := bad || call || E'\n';
		      END IF;
		    END LOOP;
		  END LOOP;
		  FOREACH call IN ARRAY ARRAY[format('pgr_connectedComponents(%s)', q), format('pgr_strongComponents(%s)', q), format('pgr_articulationPoints(%s)', q),
		      format('pgr_bridges(%s)', plain), format('pgr_biconnectedComponents(%s)', plain), format('pgr_kruskal(%s)', plain)] LOOP
		    IF differ(call) > 0 THEN
		      bad := bad || call || E'\n';
		    END IF;
		  END LOOP;
		  RETURN bad;
		END $$;
		END
	my $bad = 0;

	for my $n (1 .. $graphs)
	{
		my $found = sql("CALL make($n, " . (($seed + $n) % 1000) / 1000 . ");", "SELECT check_graph()");
		$bad++ if $found ne '';
		diag("graph $n of seed $seed: $found") if $found ne '' && $bad < 5;
	}
	is($bad, 0, "$graphs graphs: pgRouting's rows");
}
$node->stop;
done_testing();
