# Random graphs with vertices of any type return the same as the same graphs with vertices numbered
# manually: each function, in each direction, with one source and many, before and after changes,
# from tables and from queries. Rows are in the order of the type.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use EmogiTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $graphs = $ENV{EMOGI_RANDOM_GRAPHS} || 120;
my $seed = $ENV{EMOGI_RANDOM_SEED} || int(rand(1 << 30));
my $node = emogi_node('main', 'emogi.cpu_threads = 2', 'emogi.incremental_min_size = 0');

# Types, also of several columns, and a key for each number; = after the name: keys are in the order
# of their numbers.
my %types = (
	'smallint=' => 'k::smallint',
	'integer=' => 'k * 100000 - 10000000',
	'bigint=' => 'k * 10000000000 - 500000000000',
	'oid=' => '(2147483600 + k::bigint)::oid',
	'uuid' => 'md5(k::text)::uuid',
	'text' => "repeat(substr(md5(k::text), 1, 1), 1 + k % 40) || k",
	'text COLLATE "C"' => "CASE k % 3 WHEN 0 THEN upper(md5(k::text)) ELSE md5(k::text) END",
	'text COLLATE "POSIX"' => "CASE k WHEN 0 THEN '' ELSE repeat('x', k) END",
	'varchar' => "chr(97 + k % 26) || k",
	'varchar(12)=' => "'v' || lpad(k::text, 6, '0')",
	'char(12)' => "substr(md5(k::text), 1, 1 + k % 8) || k",
	'name' => "'n' || md5(k::text)",
	'bytea' => "decode(md5(k::text), 'hex') || '\\x00'::bytea",
	'numeric=' => 'k / 7.0',
	'numeric(12,2)=' => 'k * 1.25 - 100',
	'real=' => 'k * 1.5 - 50',
	'double precision=' => 'k / 3.0 - 10',
	'date=' => "date '1999-12-01' + k",
	'time=' => "time '00:00' + k * interval '1 second'",
	'timestamp=' => "timestamp '1970-01-01' + k * interval '13 minutes'",
	'timestamptz=' => "timestamptz '2000-01-01 00:00+00' + k * interval '1 hour'",
	'interval=' => "k * interval '1 hour'",
	'inet' => "('10.' || k % 7 || '.0.' || k)::inet",
	'macaddr=' => "lpad(to_hex(k), 12, '0')::macaddr",
	'money=' => 'k::money',
	'pg_lsn=' => "('0/' || to_hex(k))::pg_lsn",
	'jsonb' => "jsonb_build_object('a', k)",
	'integer[]=' => 'ARRAY[k, k + 1]',
	'mood=' => "('m' || lpad(k::text, 3, '0'))::mood",
	'pair' => "ROW(k % 7 - 3, 'x' || k)::pair",
	'triple' => "ROW(k / 7.0, (k % 2 = 0), chr(97 + k % 26) || k)::triple",
	'spot=' => "ROW(timestamp '1970-01-01' + k / 10 * interval '13 minutes', repeat('x', k % 10))::spot",
	'code' => "upper(md5(k::text))::code",
	'citext' => "substr(md5(k::text), 1, 1) || k",
	'text COLLATE nocase' => "substr(md5(k::text), 1, 1) || 'ä' || k",
	'varchar(30) COLLATE nocase' => "substr(md5(k::text), 1, 20) || k",
	'text COLLATE german' => "(ARRAY['a', 'Z', 'ä', 'Ö', 'o', 'ß', 'ss', 'e', 'É'])[1 + k % 9] || k",
	'loose' => "ROW('a' || k, k % 3)::loose"
);

# Other representations of equal keys.
my %spellings = (
	'numeric=' => 'round(key, 25)',
	'interval=' => "justify_hours(key)",
	(map { $_ => 'CASE WHEN random() < 0.5 THEN upper(key::text) ELSE initcap(key::text) END' } 'citext', 'text COLLATE nocase', 'varchar(30) COLLATE nocase'),
	'loose' => 'ROW(upper((key).a), (key).b)::loose'
);

$node->safe_psql('postgres', q{CREATE DATABASE random ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0});
$node->safe_psql('random', q{
	SET client_min_messages = warning;
	CREATE EXTENSION emogi;
	CREATE EXTENSION citext;
	CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE COLLATION german (provider = icu, locale = 'de');
	CREATE TYPE loose AS (a citext, b int);
	-- the label of a vertex, any of whose representations may be returned
	CREATE TABLE spelling AS SELECT '' AS way;
	CREATE FUNCTION label(vertex text) RETURNS text LANGUAGE sql STABLE AS $$
		SELECT CASE WHEN way ~ 'upper' THEN lower(vertex COLLATE "und-x-icu") WHEN way ~ 'round' THEN trim_scale(vertex::numeric)::text
			WHEN way ~ 'justify' THEN extract(epoch FROM vertex::interval)::text ELSE vertex END FROM spelling $$;
	DO $$BEGIN EXECUTE 'CREATE TYPE mood AS ENUM (' || (SELECT string_agg(quote_literal('m' || lpad(k::text, 3, '0')), ',') FROM generate_series(0, 399) k) || ')'; END$$;
	CREATE TYPE pair AS (a int, b text);
	CREATE TYPE triple AS (a numeric, b bool, c text);
	CREATE TYPE spot AS (a timestamp, b text COLLATE "C");
	CREATE DOMAIN code AS text CHECK (value <> '');

	-- create a graph of m random edges among n vertices, with numbers and with keys
	CREATE PROCEDURE make(type text, expression text, respelt text, n int, m int) LANGUAGE plpgsql AS $$
	BEGIN
		DROP TABLE IF EXISTS numbered, typed, names;
		CREATE TABLE numbered AS SELECT (random() ^ 2 * (n - 1))::int AS src, (random() * (n - 1))::int AS dst, (random() * 9 + 1)::int AS weight FROM generate_series(1, m);
		EXECUTE format('CREATE TABLE typed (pad text, src %1$s, dst %1$s, weight int)', type);
		EXECUTE format('CREATE TABLE names (k int PRIMARY KEY, key %s, label text)', type);
		EXECUTE format('INSERT INTO names SELECT k, %s FROM generate_series(0, %s) k', expression, n - 1);
		UPDATE spelling SET way = respelt;
		EXECUTE format('UPDATE names SET label = label(%s)', CASE type WHEN 'inet' THEN 'host(key)' ELSE 'key::text' END);
		INSERT INTO typed SELECT CASE WHEN random() < 0.5 THEN repeat('p', (random() * 20)::int) END, a.key, b.key, weight FROM numbered JOIN names a ON a.k = src JOIN names b ON b.k = dst;
		INSERT INTO typed SELECT NULL, NULL, key, 1 FROM names WHERE k < 3;
		IF respelt <> '' THEN
			EXECUTE format('UPDATE typed SET src = %s WHERE random() < 0.4', replace(respelt, 'key', 'src'));
			EXECUTE format('UPDATE typed SET dst = %s WHERE random() < 0.4', replace(respelt, 'key', 'dst'));
		END IF;
		ANALYZE typed, numbered;
	END$$;

	-- apply the same changes to both
	CREATE PROCEDURE change(n int) LANGUAGE plpgsql AS $$
	DECLARE
		low int := random() * n;
	BEGIN
		DELETE FROM typed USING names WHERE key = src AND k BETWEEN low AND low + 2;
		DELETE FROM numbered WHERE src BETWEEN low AND low + 2;
		WITH new AS (INSERT INTO numbered SELECT (random() * (n - 1))::int, (random() * (n - 1))::int, 3 FROM generate_series(1, 1 + (random() * 4)::int) RETURNING *)
		INSERT INTO typed SELECT NULL, a.key, b.key, weight FROM new JOIN names a ON a.k = src JOIN names b ON b.k = dst;
	END$$;

	-- number of different rows of two queries
	CREATE FUNCTION differ(a text, b text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		n bigint;
	BEGIN
		EXECUTE format('SELECT count(*) FROM ((SELECT * FROM (%1$s) a EXCEPT ALL SELECT * FROM (%2$s) b) UNION ALL (SELECT * FROM (%2$s) b EXCEPT ALL SELECT * FROM (%1$s) a)) d', a, b) INTO n;
		RETURN n;
	END$$;

	-- differences between the answers on both
	CREATE FUNCTION wrong(type text, graph text, sources int[], direction text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		base text := regexp_replace(type, ' COLLATE.*', '');
		given text := (SELECT format('ARRAY(SELECT label FROM names WHERE k = ANY(%L))', sources));
		one text := format('(SELECT label FROM names WHERE k = %s)', sources[1]);
		other text := format('(SELECT label FROM names WHERE k = %s)', sources[2]);
		found text := '';
		name text;
		call record;
		n bigint;
	BEGIN
		FOR call IN SELECT * FROM (VALUES
			('bfs', 'level', ''), ('bfs', 'level', ', max_depth => 2'), ('sssp', 'distance', ''), ('sssp', 'distance', ', max_distance => 9'), ('sswp', 'width', ''), ('ssnsp', 'paths', '')) v(f, value, more)
		LOOP
			n := differ(format('SELECT k, %s FROM emogi_%s(%L, %s, direction => %L%s) JOIN names ON label = label(vertex)', call.value, call.f, graph, given, direction, call.more),
				format('SELECT vertex, %s FROM emogi_%s(''numbered'', %L::bigint[], direction => %L%s)', call.value, call.f, sources, direction, call.more));
			IF n > 0 THEN found := found || format('%s %s: %s rows; ', call.f, call.more, n); END IF;
			n := differ(format('SELECT k, %s FROM emogi_%s(%L, %s, direction => %L%s) JOIN names ON label = label(vertex)', call.value, call.f, graph, one, direction, call.more),
				format('SELECT vertex, %s FROM emogi_%s(''numbered'', %s, direction => %L%s)', call.value, call.f, sources[1], direction, call.more));
			IF n > 0 THEN found := found || format('%s %s of one: %s rows; ', call.f, call.more, n); END IF;
		END LOOP;
		n := differ(format('SELECT max(seq), max(distance) FROM emogi_shortest_path(%L, %s, %s, %L)', graph, one, other, direction),
			format('SELECT max(seq), max(distance) FROM emogi_shortest_path(''numbered'', %s, %s, %L)', sources[1], sources[2], direction));
		IF n > 0 THEN found := found || 'shortest_path; '; END IF;
		n := differ(format('SELECT min(a.k), count(*) FROM emogi_cc_text(%L) JOIN names a ON a.label = label(vertex) GROUP BY component', graph),
			'SELECT min(vertex), count(*) FROM emogi_cc(''numbered'') GROUP BY component');
		IF n > 0 THEN found := found || format('cc: %s rows; ', n); END IF;
		n := differ(format('SELECT k, round(rank::numeric, 9) FROM emogi_pagerank_text(%L) JOIN names ON label = label(vertex)', graph),
			'SELECT vertex, round(rank::numeric, 9) FROM emogi_pagerank(''numbered'')');
		IF n > 0 THEN found := found || format('pagerank: %s rows; ', n); END IF;
		EXECUTE format('SELECT count(*) FROM (SELECT vertex::%2$s %3$s AS vertex, lag(vertex::%2$s %3$s) OVER () AS before FROM emogi_cc_text(%1$L)) r WHERE before >= vertex',
			graph, base, CASE WHEN type ~ 'COLLATE' THEN regexp_replace(type, '.*COLLATE', 'COLLATE') END) INTO n;
		IF n > 0 THEN found := found || format('order: %s rows; ', n); END IF;
		EXECUTE format('SELECT count(*) FROM emogi_check(%1$L, %2$L) a, emogi_check(%1$L, %2$L, with_overlay => true) b WHERE NOT a.ok OR NOT b.ok', graph, direction) INTO n;
		IF n > 0 THEN found := found || 'check; '; END IF;
		RETURN nullif(found, '');
	END$$;
});

my $session = session($node, 'random');
my $wrong = 0;
my $asked = 0;
$session->ask("SELECT setseed(" . ($seed % 1000) / 1000 . ")");
srand($seed);
for my $round (1 .. $graphs)
{
	my @names = sort keys %types;
	my $name = $names[$round % @names];
	my ($type, $expression) = ($name =~ s/=$//r, $types{$name});
	my ($n, $m) = (2 + int(rand(120)), 1 + int(rand(400)));
	$session->ask("CALL make('$type', \$e\$$expression\$e\$, \$e\$" . ($spellings{$name} // '') . "\$e\$, $n, $m)");
	for my $turn (1 .. 2 + int(rand(2)))
	{
		my $graph = rand() < 0.8 ? 'typed' : 'SELECT src, dst, weight FROM typed';
		my $sources = sprintf 'ARRAY[%d, %d, %d]', map { int(rand($n)) } 1 .. 3;
		my $direction = ('out', 'in', 'both')[int(rand(3))];
		my $found = $session->ask("SELECT wrong('$type', '$graph', $sources, '$direction')");
		$asked++;
		next if $found eq '';
		$wrong++;
		diag("seed $seed, graph $round, turn $turn, $type, $graph, $sources, $direction: $found");
		$session->ask("CALL change($n)");
	}
	continue { $session->ask("CALL change($n)") }
}
is($wrong, 0, "$asked calls on $graphs random graphs, seed $seed");
$session->quit;
$node->stop;

done_testing();
