-- What the example makes has a comment that says so, and nothing without that comment is dropped: tables of yours may have such names. The procedures
-- are of the session alone.
CREATE OR REPLACE PROCEDURE pg_temp.drop_own(VARIADIC names text[]) LANGUAGE plpgsql AS $$
DECLARE
    name  text;
    found regclass;
BEGIN
    FOREACH name IN ARRAY names LOOP
        found := to_regclass(format('%I.%I', current_schema(), name));
        IF found IS NOT NULL AND obj_description(found, 'pg_class') IS DISTINCT FROM 'example of retrieval with emogi' THEN
            RAISE '% is there, and is not of this example', found USING ERRCODE = '42P07', HINT = 'Load the example into a schema of its own, or a database.';
        END IF;
        IF found IS NOT NULL THEN
            EXECUTE format('DROP %s %s', CASE (SELECT relkind FROM pg_class WHERE oid = found) WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, found);
        END IF;
    END LOOP;
END
$$;

CREATE OR REPLACE PROCEDURE pg_temp.mark_own(kind text, VARIADIC names text[]) LANGUAGE plpgsql AS $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY names LOOP
        EXECUTE format('COMMENT ON %s %I IS ''example of retrieval with emogi''', kind, name);
    END LOOP;
END
$$;
