-- Communities of entities, with ids that stay when the graph is edited: what has been written about a community is kept for as long as it is
-- the same, and known to be out of date when it is not. refresh_communities() may be called after every edit.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
BEGIN;
DROP TABLE IF EXISTS member, community CASCADE;
CREATE TABLE community (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    level       int NOT NULL,        -- 0: the whole is divided into these; each level divides those of the one before, as GraphRAG counts
    parent      bigint REFERENCES community ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    entities    int NOT NULL,
    fingerprint text NOT NULL,       -- of its entities and the relationships among them
    summary     text,
    stale       boolean NOT NULL DEFAULT true
);
CREATE TABLE member (
    community bigint NOT NULL REFERENCES community ON DELETE CASCADE,
    entity    bigint NOT NULL,
    PRIMARY KEY (community, entity)
);
CREATE INDEX ON member (entity);

-- Find communities anew. One that shares at least half of its entities with an old one, counted over both, has the id of that, where each is
-- the other's nearest. It returns how many are as they were, have changed, are new, and are gone.
CREATE OR REPLACE FUNCTION refresh_communities(largest int DEFAULT 10, OUT same bigint, OUT changed bigint, OUT new bigint, OUT gone bigint)
LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE community IN SHARE ROW EXCLUSIVE MODE;
    DROP TABLE IF EXISTS fresh, fresh_member, matched;

    -- What was not divided comes again at the finer levels; it counts where it is first.
    CREATE TEMP TABLE fresh_member ON COMMIT DROP AS
    WITH found AS (
        SELECT max(level) OVER () - level AS level, vertex AS entity, community AS name, parent
        FROM emogi_leiden('SELECT src, dst, weight FROM relationship WHERE kind <> ''tells of''', theta => 0.001, max_cluster_size => largest)
    ), sized AS (
        SELECT *, count(*) OVER (PARTITION BY level, name) AS entities FROM found
    )
    SELECT f.level, f.name, f.parent, f.entity FROM sized AS f LEFT JOIN sized AS p ON p.level = f.level - 1 AND p.entity = f.entity
    WHERE p.entities IS DISTINCT FROM f.entities;
    ANALYZE fresh_member;

    CREATE TEMP TABLE fresh ON COMMIT DROP AS
    WITH inner_edge AS (
        SELECT a.level, a.name, string_agg(concat_ws(' ', r.src, r.dst, r.kind, r.weight), ',' ORDER BY r.src, r.dst, r.kind) AS edges
        FROM relationship AS r JOIN fresh_member AS a ON a.entity = r.src JOIN fresh_member AS b ON b.entity = r.dst AND b.level = a.level AND b.name = a.name
        GROUP BY a.level, a.name
    ), counted AS (
        SELECT level, name, parent, count(*) AS entities, string_agg(entity::text, ',' ORDER BY entity) AS members FROM fresh_member GROUP BY level, name, parent
    )
    SELECT level, name, parent, entities, md5(members || ';' || coalesce(edges, '')) AS fingerprint, NULL::bigint AS id
    FROM counted LEFT JOIN inner_edge USING (level, name);

    CREATE TEMP TABLE matched ON COMMIT DROP AS
    WITH pair AS (
        SELECT f.level, f.name, f.fingerprint, c.id, count(*)::float8 / (f.entities + c.entities - count(*)) AS likeness
        FROM fresh AS f JOIN fresh_member AS fm USING (level, name) JOIN member AS m USING (entity) JOIN community AS c ON c.id = m.community
        GROUP BY f.level, f.name, f.fingerprint, f.entities, c.id
    ), placed AS (
        SELECT *, row_number() OVER (PARTITION BY level, name ORDER BY likeness DESC, id) AS for_fresh,
            row_number() OVER (PARTITION BY id ORDER BY likeness DESC, level, name) AS for_old
        FROM pair WHERE likeness >= 0.5
    )
    SELECT level, name, id FROM placed WHERE for_fresh = 1 AND for_old = 1;

    UPDATE fresh AS f SET id = m.id FROM matched AS m WHERE (m.level, m.name) = (f.level, f.name);
    DELETE FROM community AS c WHERE NOT EXISTS (SELECT FROM fresh AS f WHERE f.id = c.id);
    GET DIAGNOSTICS gone = ROW_COUNT;
    SELECT count(*) FILTER (WHERE c.fingerprint = f.fingerprint), count(*) FILTER (WHERE c.fingerprint <> f.fingerprint), count(*) FILTER (WHERE c.id IS NULL)
        INTO same, changed, new FROM fresh AS f LEFT JOIN community AS c USING (id);

    UPDATE fresh SET id = nextval(pg_get_serial_sequence('community', 'id')) WHERE id IS NULL;
    INSERT INTO community AS c (id, level, entities, fingerprint) OVERRIDING SYSTEM VALUE SELECT id, level, entities, fingerprint FROM fresh
        ON CONFLICT (id) DO UPDATE SET level = excluded.level, entities = excluded.entities, fingerprint = excluded.fingerprint,
            stale = c.stale OR c.fingerprint <> excluded.fingerprint;
    DELETE FROM member;
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
END
$$;

-- Write about the communities that nothing has been written about, or that have changed since: their chief entities, by the weight of the
-- relationships within. In a pipeline of your own a language model writes, from the passages of these. It returns how many were written.
CREATE OR REPLACE FUNCTION summarize() RETURNS bigint
LANGUAGE sql AS $$
    WITH strength AS (
        SELECT c.id, m.entity, sum(r.weight) AS weight
        FROM community AS c JOIN member AS m ON m.community = c.id
            JOIN relationship AS r ON m.entity IN (r.src, r.dst) AND r.kind <> 'tells of'
            JOIN member AS other ON other.community = c.id AND other.entity = r.src + r.dst - m.entity
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
