-- Communities of entities, with ids that stay when the graph is edited: what has been written about a community is kept for as long as it is
-- the same, and known to be out of date when it is not. refresh_communities() may be called after every edit.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
BEGIN;
DROP TABLE IF EXISTS member, community, touched CASCADE;
CREATE TABLE community (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    level       int NOT NULL,        -- 0: the whole is divided into these; each level divides those of the one before, as GraphRAG counts
    parent      bigint REFERENCES community ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    entities    int NOT NULL,
    fingerprint text NOT NULL,       -- of its entities and the relationships among them
    summary     text,
    stale       boolean NOT NULL DEFAULT true
);
CREATE INDEX ON community (parent);
CREATE TABLE member (
    community bigint NOT NULL REFERENCES community ON DELETE CASCADE,
    entity    bigint NOT NULL,
    PRIMARY KEY (community, entity)
);
CREATE INDEX ON member (entity);

-- The graph that is divided: passages are no part of it.
CREATE OR REPLACE VIEW entity_relationship AS SELECT src, dst, weight FROM relationship WHERE kind <> 'tells of';

-- The ends of relationships that were written since the last refresh.
CREATE TABLE touched (entity bigint NOT NULL);
CREATE OR REPLACE FUNCTION note_touched() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        INSERT INTO touched SELECT unnest(ARRAY[src, dst]) FROM gone WHERE kind <> 'tells of';
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO touched SELECT unnest(ARRAY[src, dst]) FROM came WHERE kind <> 'tells of';
    END IF;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER touched_insert AFTER INSERT ON relationship REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION note_touched();
CREATE OR REPLACE TRIGGER touched_delete AFTER DELETE ON relationship REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_touched();
CREATE OR REPLACE TRIGGER touched_update AFTER UPDATE ON relationship REFERENCING OLD TABLE AS gone NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION note_touched();

-- Each community once, where it is first: what was not divided comes again at the finer levels.
CREATE OR REPLACE FUNCTION hierarchy(graph text, largest int) RETURNS TABLE (level int, name bigint, entity bigint)
LANGUAGE sql AS $$
    WITH found AS (
        SELECT max(level) OVER () - level AS level, vertex AS entity, community AS name FROM emogi_leiden(graph, theta => 0.001, max_cluster_size => largest)
    ), sized AS (
        SELECT *, count(*) OVER (PARTITION BY level, name) AS entities FROM found
    )
    SELECT f.level, f.name, f.entity FROM sized AS f LEFT JOIN sized AS p ON p.level = f.level - 1 AND p.entity = f.entity
    WHERE p.entities IS DISTINCT FROM f.entities
$$;

-- The communities of level 0 after an edit, without finding all anew: an entity that was touched goes to the community to which its
-- relationships weigh most, one that has come as well, and what has fallen apart is several. Those that must be divided anew are `redo`.
CREATE OR REPLACE FUNCTION edited_communities() RETURNS TABLE (entity bigint, name bigint, redo boolean)
LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS at_present, old_top;
    CREATE TEMP TABLE old_top ON COMMIT DROP AS SELECT m.entity, m.community FROM member AS m JOIN community AS c ON c.id = m.community WHERE c.level = 0;
    CREATE TEMP TABLE at_present ON COMMIT DROP AS
    WITH vertex AS (
        SELECT src AS entity FROM entity_relationship UNION SELECT dst FROM entity_relationship
    ), vote AS (
        SELECT t.entity, o.community, sum(r.weight) + CASE WHEN o.community = own.community THEN 1e-9 ELSE 0 END AS weight
        FROM (SELECT DISTINCT touched.entity FROM touched) AS t JOIN entity_relationship AS r ON t.entity IN (r.src, r.dst)
            JOIN old_top AS o ON o.entity = r.src + r.dst - t.entity LEFT JOIN old_top AS own ON own.entity = t.entity
        GROUP BY t.entity, o.community, own.community
    ), chosen AS (
        SELECT DISTINCT ON (v.entity) v.entity, v.community FROM vote AS v ORDER BY v.entity, v.weight DESC, v.community
    )
    SELECT v.entity, coalesce(c.community, o.community, 0) AS community FROM vertex AS v LEFT JOIN chosen AS c USING (entity) LEFT JOIN old_top AS o USING (entity);

    RETURN QUERY
    WITH part AS (
        SELECT p.entity, p.community, coalesce(cc.component, p.entity) AS name
        FROM at_present AS p LEFT JOIN emogi_cc('SELECT r.src, r.dst FROM entity_relationship AS r JOIN at_present AS a ON a.entity = r.src
            JOIN at_present AS b ON b.entity = r.dst AND b.community = a.community') AS cc ON cc.vertex = p.entity
    ), disturbed AS (
        SELECT o.community FROM old_top AS o WHERE o.entity IN (SELECT t.entity FROM touched AS t)
    ), again AS (
        SELECT p.name FROM part AS p LEFT JOIN old_top AS o USING (entity)
        WHERE p.entity IN (SELECT t.entity FROM touched AS t) OR o.community IN (SELECT d.community FROM disturbed AS d)
    )
    SELECT p.entity, p.name, p.name IN (SELECT a.name FROM again AS a) FROM part AS p;
END
$$;

-- Find communities: those that were touched, or all, with everything => true and the first time. One that shares at least half of its
-- entities with an old one, counted over both, has the id of that, where each is the other's nearest. It returns how many are as they
-- were, have changed, are new, and are gone; and the modularity of level 0: when that has fallen, find everything anew.
CREATE OR REPLACE FUNCTION refresh_communities(everything boolean DEFAULT false, largest int DEFAULT 10,
    OUT same bigint, OUT changed bigint, OUT new bigint, OUT gone bigint, OUT modularity float8)
LANGUAGE plpgsql SET client_min_messages = warning AS $$
BEGIN
    LOCK TABLE community, touched IN SHARE ROW EXCLUSIVE MODE;
    DROP TABLE IF EXISTS top, fresh, fresh_member, old, matched;
    CREATE TEMP TABLE fresh_member (level int, name bigint, entity bigint) ON COMMIT DROP;
    CREATE TEMP TABLE old (id bigint PRIMARY KEY) ON COMMIT DROP;

    IF everything OR NOT EXISTS (SELECT FROM community) THEN
        INSERT INTO fresh_member SELECT * FROM hierarchy('entity_relationship', largest);
        INSERT INTO old SELECT id FROM community;
    ELSE
        CREATE TEMP TABLE top ON COMMIT DROP AS SELECT * FROM edited_communities();
        INSERT INTO fresh_member SELECT 0, name, entity FROM top WHERE redo;
        INSERT INTO fresh_member
        SELECT level + 1, name, entity
        FROM (SELECT h.*, t.entities AS whole, count(*) OVER (PARTITION BY t.name, h.level, h.name) AS entities
              FROM (SELECT name, count(*) AS entities FROM top WHERE redo GROUP BY name HAVING count(*) > largest) AS t,
                  LATERAL hierarchy(format('SELECT r.src, r.dst, r.weight FROM entity_relationship AS r JOIN top AS a ON a.entity = r.src AND a.name = %1$s
                      JOIN top AS b ON b.entity = r.dst AND b.name = %1$s', t.name), largest) AS h) AS divided
        WHERE entities < whole;
        INSERT INTO old
        SELECT DISTINCT m.community FROM member AS m WHERE m.entity IN
            (SELECT b.entity FROM member AS a JOIN community AS c ON c.id = a.community AND c.level = 0 JOIN member AS b ON b.community = c.id
             WHERE a.entity IN (SELECT entity FROM fresh_member UNION ALL SELECT entity FROM touched));
    END IF;
    ANALYZE fresh_member;

    CREATE TEMP TABLE fresh ON COMMIT DROP AS
    WITH inner_edge AS (
        SELECT a.level, a.name, string_agg(concat_ws(' ', r.src, r.dst, r.weight), ',' ORDER BY r.src, r.dst, r.weight) AS edges
        FROM entity_relationship AS r JOIN fresh_member AS a ON a.entity = r.src JOIN fresh_member AS b ON b.entity = r.dst AND b.level = a.level AND b.name = a.name
        GROUP BY a.level, a.name
    ), counted AS (
        SELECT level, name, count(*) AS entities, string_agg(entity::text, ',' ORDER BY entity) AS members FROM fresh_member GROUP BY level, name
    )
    SELECT level, name, entities, md5(members || ';' || coalesce(edges, '')) AS fingerprint, NULL::bigint AS id
    FROM counted LEFT JOIN inner_edge USING (level, name);

    CREATE TEMP TABLE matched ON COMMIT DROP AS
    WITH pair AS (
        SELECT f.level, f.name, f.fingerprint, c.id, count(*)::float8 / (f.entities + c.entities - count(*)) AS likeness
        FROM fresh AS f JOIN fresh_member AS fm USING (level, name) JOIN member AS m USING (entity)
            JOIN old ON old.id = m.community JOIN community AS c ON c.id = m.community
        GROUP BY f.level, f.name, f.fingerprint, f.entities, c.id
    ), placed AS (
        SELECT *, row_number() OVER (PARTITION BY level, name ORDER BY likeness DESC, id) AS for_fresh,
            row_number() OVER (PARTITION BY id ORDER BY likeness DESC, level, name) AS for_old
        FROM pair WHERE likeness >= 0.5
    )
    SELECT level, name, id FROM placed WHERE for_fresh = 1 AND for_old = 1;

    UPDATE fresh AS f SET id = m.id FROM matched AS m WHERE (m.level, m.name) = (f.level, f.name);
    DELETE FROM community AS c USING old WHERE old.id = c.id AND NOT EXISTS (SELECT FROM fresh AS f WHERE f.id = c.id);
    GET DIAGNOSTICS gone = ROW_COUNT;
    SELECT count(*) FILTER (WHERE c.fingerprint = f.fingerprint) + (SELECT count(*) FROM community WHERE id NOT IN (SELECT id FROM old)), count(*) FILTER (WHERE c.fingerprint <> f.fingerprint), count(*) FILTER (WHERE c.id IS NULL)
        INTO same, changed, new FROM fresh AS f LEFT JOIN community AS c USING (id);

    UPDATE fresh SET id = nextval(pg_get_serial_sequence('community', 'id')) WHERE id IS NULL;
    INSERT INTO community AS c (id, level, entities, fingerprint) OVERRIDING SYSTEM VALUE SELECT id, level, entities, fingerprint FROM fresh
        ON CONFLICT (id) DO UPDATE SET level = excluded.level, entities = excluded.entities, fingerprint = excluded.fingerprint,
            stale = c.stale OR c.fingerprint <> excluded.fingerprint;
    DELETE FROM member WHERE community IN (SELECT id FROM old);
    INSERT INTO member SELECT f.id, m.entity FROM fresh AS f JOIN fresh_member AS m USING (level, name);

    -- A parent is the community nearest above, of which any entity knows.
    WITH one AS (
        SELECT c.id, c.level, min(m.entity) AS entity FROM community AS c JOIN member AS m ON m.community = c.id GROUP BY c.id
    ), above AS (
        SELECT DISTINCT ON (one.id) one.id, up.id AS parent
        FROM one LEFT JOIN (member AS m JOIN community AS up ON up.id = m.community) ON m.entity = one.entity AND up.level < one.level
        ORDER BY one.id, up.level DESC NULLS LAST
    )
    UPDATE community AS c SET parent = a.parent FROM above AS a WHERE a.id = c.id AND c.parent IS DISTINCT FROM a.parent;

    DELETE FROM touched;
    modularity := emogi_modularity('entity_relationship', 'SELECT m.entity, m.community FROM member AS m JOIN community AS c ON c.id = m.community WHERE c.level = 0');
END
$$;

-- Write about the communities that nothing has been written about, or that have changed since: their chief entities, by the weight of the
-- relationships within. In a pipeline of your own a language model writes, from the passages of these. It returns how many were written.
CREATE OR REPLACE FUNCTION summarize() RETURNS bigint
LANGUAGE sql AS $$
    WITH strength AS (
        SELECT c.id, m.entity, coalesce(sum(r.weight) FILTER (WHERE other.entity IS NOT NULL), 0) AS weight
        FROM community AS c JOIN member AS m ON m.community = c.id
            LEFT JOIN entity_relationship AS r ON m.entity IN (r.src, r.dst)
            LEFT JOIN member AS other ON other.community = c.id AND other.entity = r.src + r.dst - m.entity
        WHERE c.stale GROUP BY c.id, m.entity
    ), placed AS (
        SELECT s.id, e.name, row_number() OVER (PARTITION BY s.id ORDER BY s.weight DESC, e.id) AS place FROM strength AS s JOIN entity AS e ON e.id = s.entity
    ), written AS (
        UPDATE community AS c SET stale = false, summary = p.names
        FROM (SELECT id, string_agg(name, ', ' ORDER BY place) AS names FROM placed WHERE place <= 5 GROUP BY id) AS p
        WHERE p.id = c.id RETURNING c.id
    )
    SELECT count(*) FROM written
$$;
COMMIT;
