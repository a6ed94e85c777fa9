-- Random conditions on edges, evaluated over property columns, against PostgreSQL's own evaluation.
-- The edges of vertex 0 lead to one vertex for each row, so a search tells which rows pass.
CREATE EXTENSION IF NOT EXISTS emogi;
SET emogi.engine = auto;
SET emogi.enable_property_columns = on;
SET emogi.enable_index_search = off;
CREATE TYPE program_mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN program_short AS smallint;
CREATE TABLE program_edges (src int NOT NULL, dst int NOT NULL, b boolean, s smallint, i integer,
  l bigint, r real, f double precision, d date, t time, ts timestamp, tz timestamptz, m money,
  e program_mood, u uuid, x text, v varchar(10), c char(4), n numeric, o program_short,
  xc text COLLATE "C");
SELECT setseed(0.42);
CREATE FUNCTION program_pick(VARIADIC options text[]) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT options[1 + floor(random() * array_length(options, 1))::int] $$;
-- the text of a random value of a column, perhaps NULL
CREATE FUNCTION program_value(name text) RETURNS text LANGUAGE plpgsql VOLATILE AS
$$ BEGIN
  IF random() < 0.1 THEN RETURN NULL; END IF;
  RETURN CASE name
    WHEN 'b' THEN program_pick('true', 'false')
    WHEN 's' THEN program_pick('-32768', '32767', '0', '-1', '7', (random() * 20)::int::text)
    WHEN 'o' THEN program_pick('-5', '127', '128', '0', (random() * 20)::int::text)
    WHEN 'i' THEN program_pick('-2147483648', '2147483647', '0', '3', (random() * 20)::int::text)
    WHEN 'l' THEN program_pick('-9223372036854775808', '9223372036854775807', '9007199254740993',
                               '9007199254740992', '0', (random() * 20)::int::text)
    WHEN 'r' THEN program_pick('NaN', 'Infinity', '-Infinity', '0', '-0', '1.5', '0.1',
                               (random() * 20)::int::text)
    WHEN 'f' THEN program_pick('NaN', 'Infinity', '-Infinity', '0', '-0', '1.5', '0.1',
                               '9007199254740992', (random() * 20)::int::text)
    WHEN 'd' THEN program_pick('infinity', '-infinity', '2024-02-29',
                               (date '2024-01-01' + (random() * 9)::int)::text)
    WHEN 't' THEN program_pick('00:00', '24:00', '12:34:56.789', '08:00')
    WHEN 'ts' THEN program_pick('infinity', '-infinity', '2024-02-29 12:00',
                                (timestamp '2024-01-01' + random() * interval '9 days')::text)
    WHEN 'tz' THEN program_pick('infinity', '2024-02-29 12:00+00', '2024-01-05 00:00+02')
    WHEN 'm' THEN program_pick('0', '-1.5', '12.25', '1000000')
    WHEN 'e' THEN program_pick('sad', 'ok', 'happy')
    WHEN 'u' THEN program_pick('00000000-0000-0000-0000-000000000000',
                               'ffffffff-ffff-ffff-ffff-ffffffffffff',
                               '12345678-0000-0000-0000-00000000000' || (random() * 9)::int)
    WHEN 'c' THEN program_pick('', 'a', 'ab', 'ab ', 'abc', 'b_c', 'B')
    WHEN 'n' THEN program_pick('NaN', '1.0', '1.00', '1', '-0.5', '1e30', (random() * 5)::int::text)
    ELSE program_pick('', 'a', 'A', 'ab', 'abc', 'a%b', 'a_b', 'é', 'z', repeat('q', 5),
                      'w' || (random() * 9)::int)
  END;
END $$;
INSERT INTO program_edges
SELECT 0, g, program_value('b')::boolean, program_value('s')::smallint, program_value('i')::int,
  program_value('l')::bigint, program_value('r')::real, program_value('f')::float8,
  program_value('d')::date, program_value('t')::time, program_value('ts')::timestamp,
  program_value('tz')::timestamptz, program_value('m')::money, program_value('e')::program_mood,
  program_value('u')::uuid, program_value('x'), program_value('v'), program_value('c'),
  program_value('n')::numeric, program_value('o')::smallint, program_value('xc')
FROM generate_series(1, 150) g;
-- a literal of a column's type, or of one that it can be compared with
CREATE FUNCTION program_literal(name text) RETURNS text LANGUAGE plpgsql VOLATILE AS
$$ DECLARE
  value text := program_value(CASE WHEN name IN ('s', 'i', 'o') AND random() < 0.3 THEN 'l'
                                   ELSE name END);
BEGIN
  IF value IS NULL THEN
    RETURN 'NULL';
  ELSIF name IN ('s', 'i', 'l', 'o') THEN
    RETURN program_pick(value, value, value || '.5', value || '.0',
                        quote_literal(program_value('f')) || '::float8',
                        quote_literal(program_value('r')) || '::real',
                        quote_literal(program_value('n')) || '::numeric',
                        '(' || value || ')::bigint');
  ELSIF name IN ('r', 'f') THEN
    RETURN program_pick(quote_literal(value), quote_literal(value) || '::float8',
                        quote_literal(value) || '::real', '3', '1.5', '0.1');
  ELSIF name = 'n' THEN
    RETURN program_pick(quote_literal(value), '1.00', '3', '0.5');
  END IF;
  RETURN quote_literal(value);
END $$;
CREATE FUNCTION program_leaf() RETURNS text LANGUAGE plpgsql VOLATILE AS
$$ DECLARE
  name text := program_pick('b', 's', 'i', 'l', 'r', 'f', 'd', 't', 'ts', 'tz', 'm', 'e', 'u', 'x',
                            'v', 'c', 'n', 'o', 'xc');
  numbers text[] := ARRAY['s', 'i', 'l', 'r', 'f', 'o'];
BEGIN
  IF random() < 0.08 THEN
    RETURN name || program_pick(' IS NULL', ' IS NOT NULL');
  ELSIF random() < 0.1 AND name IN ('x', 'v', 'c', 'xc') THEN
    RETURN name || program_pick(' LIKE ', ' NOT LIKE ', ' ILIKE ', ' NOT ILIKE ') ||
      program_pick('''a%''', '''%b''', '''a\%b''', '''a_b%''', '''''', '''%''', '''w_''', 'NULL');
  ELSIF random() < 0.1 AND name = ANY (numbers) THEN
    RETURN name || program_pick(' < ', ' <= ', ' = ', ' >= ', ' > ', ' <> ') ||
      program_pick(VARIADIC numbers);
  ELSIF random() < 0.15 THEN
    RETURN name || program_pick(' IN (', ' NOT IN (') || program_literal(name) || ', ' ||
      program_literal(name) || ', ' || program_literal(name) || ')';
  ELSIF random() < 0.1 THEN
    RETURN name || program_pick(' BETWEEN ', ' NOT BETWEEN ') || program_literal(name) || ' AND ' ||
      program_literal(name);
  ELSIF random() < 0.1 THEN
    RETURN name || program_pick(' IS DISTINCT FROM ', ' IS NOT DISTINCT FROM ') ||
      program_pick(program_literal(name), name);
  ELSIF random() < 0.05 AND name IN ('x', 'xc') THEN
    RETURN name || program_pick(' < ', ' >= ', ' = ') || program_literal(name) || ' COLLATE ' ||
      program_pick('"C"', '"C"', '"POSIX"');
  ELSIF name = 'b' THEN
    RETURN program_pick('b', 'NOT b', 'b = true', 'b <> false', 'b IS NOT TRUE', 'b IS UNKNOWN',
                        'b > NULL', 'b < true');
  ELSIF random() < 0.1 THEN
    RETURN program_literal(name) || program_pick(' < ', ' <= ', ' = ', ' >= ', ' > ', ' <> ') || name;
  END IF;
  RETURN name || program_pick(' < ', ' <= ', ' = ', ' >= ', ' > ', ' <> ') || program_literal(name);
END $$;
CREATE FUNCTION program_condition(depth int) RETURNS text LANGUAGE plpgsql VOLATILE AS
$$ BEGIN
  IF depth = 0 OR random() < 0.3 THEN RETURN program_leaf(); END IF;
  RETURN CASE floor(random() * 6)
    WHEN 0 THEN 'NOT (' || program_condition(depth - 1) || ')'
    WHEN 1 THEN '(' || program_condition(depth - 1) || ')' ||
      program_pick(' IS TRUE', ' IS NOT TRUE', ' IS FALSE', ' IS NOT FALSE', ' IS UNKNOWN',
                   ' IS NOT UNKNOWN', ' IS NULL', ' IS NOT NULL')
    WHEN 2 THEN '(' || program_condition(depth - 1) || ' AND ' || program_condition(depth - 1) ||
      ' AND ' || program_condition(depth - 1) || ')'
    WHEN 3 THEN '(' || program_condition(depth - 1) || ' AND ' || program_condition(depth - 1) || ')'
    WHEN 4 THEN '(' || program_condition(depth - 1) || ' OR ' || program_condition(depth - 1) ||
      ' OR ' || program_condition(depth - 1) || ')'
    ELSE '(' || program_condition(depth - 1) || ' OR ' || program_condition(depth - 1) || ')'
  END;
END $$;
-- the graph of the whole table
SELECT count(*) FROM emogi_bfs('program_edges(src, dst)', 0);
-- compare; conditions that PostgreSQL refuses, as for types without an operator, are skipped
CREATE FUNCTION program_compare(rounds int, OUT compared int, OUT refused int, OUT wrong int,
                                OUT masked int)
LANGUAGE plpgsql AS
$$ DECLARE
  condition text;
  expected int[];
  found int[];
  before bigint;
  after bigint;
BEGIN
  compared := 0; refused := 0; wrong := 0; masked := 0;
  FOR round IN 1 .. rounds LOOP
    condition := program_condition(3);
    BEGIN
      EXECUTE 'SELECT coalesce(array_agg(dst ORDER BY dst), ''{}'') FROM program_edges WHERE ' ||
        condition INTO expected;
    EXCEPTION WHEN OTHERS THEN
      refused := refused + 1;
      CONTINUE;
    END;
    SELECT hits INTO before FROM emogi_graphs WHERE source = 'program_edges';
    SELECT coalesce(array_agg(vertex ORDER BY vertex) FILTER (WHERE level = 1), '{}') INTO found
    FROM emogi_bfs('program_edges(src, dst)', 0, edge_filter => condition);
    SELECT hits INTO after FROM emogi_graphs WHERE source = 'program_edges';
    compared := compared + 1;
    masked := masked + (after > before)::int;
    IF found IS DISTINCT FROM expected THEN
      wrong := wrong + 1;
      RAISE NOTICE '%: % instead of %', condition, found, expected;
    END IF;
  END LOOP;
END $$;
SET client_min_messages = notice;
SELECT compared > 300 AS compared, masked > 0.8 * compared AS masked, wrong
FROM program_compare(500);
DROP TABLE program_edges;
DROP FUNCTION program_compare, program_condition, program_leaf, program_literal, program_value,
  program_pick;
DROP DOMAIN program_short;
DROP TYPE program_mood;
