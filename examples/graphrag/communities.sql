-- Communities of entities, with ids that stay when the graph is edited: what has been written about a community is kept for as long as it is
-- the same, and known to be out of date when it is not. refresh_communities() may be called after every edit.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
BEGIN;
\ir own.sql
CALL pg_temp.drop_own('entity_neighbour', 'entity_relationship', 'member', 'community', 'touched');
CREATE TABLE community (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    level       int NOT NULL,        -- 0: the whole is divided into these; each level divides those of the one before, as GraphRAG counts
    parent      bigint REFERENCES community ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    entities    int NOT NULL,
    fingerprint text NOT NULL,       -- of its entities, their names and texts, and the relationships among them
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

-- The graph that is divided: passages are no part of it, nor is a relationship that an entity has left behind.
CREATE VIEW entity_relationship AS
    SELECT r.src, r.dst, r.weight FROM relationship AS r JOIN entity AS a ON a.id = r.src JOIN entity AS b ON b.id = r.dst WHERE r.kind <> 'tells of';

-- The ends of relationships that were written since the last refresh, or of which an end came or went; and entities that have another name or
-- text, which do not go to another community for it.
CREATE TABLE touched (entity bigint NOT NULL, moves boolean NOT NULL DEFAULT true);
CALL pg_temp.mark_own('TABLE', 'community', 'member', 'touched');
CALL pg_temp.mark_own('VIEW', 'entity_relationship');
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

-- The same where entities come or go, for their relationships may have come before or be left.
CREATE OR REPLACE FUNCTION note_entities() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO touched SELECT unnest(ARRAY[r.src, r.dst]) FROM written AS e JOIN relationship AS r ON r.src = e.id WHERE r.kind <> 'tells of';
    INSERT INTO touched SELECT unnest(ARRAY[r.src, r.dst]) FROM written AS e JOIN relationship AS r ON r.dst = e.id WHERE r.kind <> 'tells of';
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER touched_insert AFTER INSERT ON entity REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION note_entities();
CREATE OR REPLACE TRIGGER touched_delete AFTER DELETE ON entity REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION note_entities();

-- TRUNCATE has no rows to show. An entity that has another embedding is the same, so of updates those of the key, the name and the text alone are looked at.
CREATE OR REPLACE FUNCTION note_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO touched SELECT DISTINCT entity FROM member;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER touched_truncate AFTER TRUNCATE ON relationship FOR EACH STATEMENT EXECUTE FUNCTION note_all();
CREATE OR REPLACE TRIGGER touched_truncate AFTER TRUNCATE ON entity FOR EACH STATEMENT EXECUTE FUNCTION note_all();
CREATE OR REPLACE FUNCTION note_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO touched SELECT unnest(ARRAY[src, dst]) FROM relationship WHERE src IN (OLD.id, NEW.id) AND kind <> 'tells of';
    INSERT INTO touched SELECT unnest(ARRAY[src, dst]) FROM relationship WHERE dst IN (OLD.id, NEW.id) AND kind <> 'tells of';
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER touched_key AFTER UPDATE OF id ON entity FOR EACH ROW EXECUTE FUNCTION note_key();
CREATE OR REPLACE FUNCTION note_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO touched VALUES (NEW.id, false);
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER touched_text AFTER UPDATE OF name, text ON entity FOR EACH ROW
    WHEN ((OLD.name, OLD.text) IS DISTINCT FROM (NEW.name, NEW.text)) EXECUTE FUNCTION note_text();

-- Who may write relationships need have no right to `touched`: the functions have the rights of who loads this, and names in them are of this
-- schema, whatever the search_path of the writer. As triggers alone: nobody else makes triggers of them.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['note_touched', 'note_entities', 'note_all', 'note_key', 'note_text'] LOOP
        EXECUTE format('ALTER FUNCTION %I() SECURITY DEFINER SET search_path = pg_catalog, %I, pg_temp', name, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %I() FROM PUBLIC', name);
    END LOOP;
END
$$;

-- The relationships from each of their ends.
CREATE VIEW entity_neighbour AS
    SELECT src AS entity, dst AS neighbour, weight FROM entity_relationship UNION ALL SELECT dst, src, weight FROM entity_relationship WHERE src <> dst;
CALL pg_temp.mark_own('VIEW', 'entity_neighbour');

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
-- It reads the copy of the relationships that refresh_communities has made.
CREATE OR REPLACE FUNCTION edited_communities() RETURNS TABLE (entity bigint, name bigint, redo boolean)
LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS pg_temp.refresh_present, pg_temp.refresh_old_top;
    CREATE TEMP TABLE refresh_old_top ON COMMIT DROP AS SELECT m.entity, m.community FROM member AS m JOIN community AS c ON c.id = m.community WHERE c.level = 0;
    CREATE TEMP TABLE refresh_present ON COMMIT DROP AS
    WITH vertex AS (
        SELECT src AS entity FROM pg_temp.refresh_relationship UNION SELECT dst FROM pg_temp.refresh_relationship
    ), either AS (
        SELECT src AS entity, dst AS neighbour, weight FROM pg_temp.refresh_relationship UNION ALL SELECT dst, src, weight FROM pg_temp.refresh_relationship WHERE src <> dst
    ), vote AS (
        SELECT t.entity, o.community, sum(r.weight) + CASE WHEN o.community = own.community THEN 1e-9 ELSE 0 END AS weight
        FROM (SELECT DISTINCT touched.entity FROM touched WHERE moves) AS t JOIN either AS r USING (entity)
            JOIN pg_temp.refresh_old_top AS o ON o.entity = r.neighbour LEFT JOIN pg_temp.refresh_old_top AS own ON own.entity = t.entity
        GROUP BY t.entity, o.community, own.community
    ), chosen AS (
        SELECT DISTINCT ON (v.entity) v.entity, v.community FROM vote AS v ORDER BY v.entity, v.weight DESC, v.community
    )
    SELECT v.entity, coalesce(c.community, o.community, 0) AS community FROM vertex AS v LEFT JOIN chosen AS c USING (entity) LEFT JOIN pg_temp.refresh_old_top AS o USING (entity);

    RETURN QUERY
    WITH part AS (
        SELECT p.entity, p.community, coalesce(cc.component, p.entity) AS name
        FROM pg_temp.refresh_present AS p LEFT JOIN emogi_cc('SELECT r.src, r.dst FROM pg_temp.refresh_relationship AS r JOIN pg_temp.refresh_present AS a ON a.entity = r.src
            JOIN pg_temp.refresh_present AS b ON b.entity = r.dst AND b.community = a.community') AS cc ON cc.vertex = p.entity
    ), disturbed AS (
        SELECT o.community FROM pg_temp.refresh_old_top AS o WHERE o.entity IN (SELECT t.entity FROM touched AS t)
    ), again AS (
        SELECT p.name FROM part AS p LEFT JOIN pg_temp.refresh_old_top AS o USING (entity)
        WHERE p.entity IN (SELECT t.entity FROM touched AS t) OR o.community IN (SELECT d.community FROM disturbed AS d)
    )
    SELECT p.entity, p.name, p.name IN (SELECT a.name FROM again AS a) FROM part AS p;
END
$$;

-- Find communities: those that were touched, or all, with everything => true and the first time. One that shares at least half of its
-- entities with an old one, counted over both, has the id of that, where each is the other's nearest. It returns how many are as they
-- were, have changed, are new, and are gone; and the modularity of level 0: when that has fallen, find everything anew. So with another `largest`, too:
-- what was not touched stays as it is divided.
CREATE OR REPLACE FUNCTION refresh_communities(everything boolean DEFAULT false, largest int DEFAULT 10,
    OUT same bigint, OUT changed bigint, OUT new bigint, OUT gone bigint, OUT modularity float8)
LANGUAGE plpgsql SET client_min_messages = warning AS $$
BEGIN
    -- Nobody edits meanwhile: it waits for edits that are not committed, and those that come wait for the end of its transaction.
    LOCK TABLE community, touched IN SHARE ROW EXCLUSIVE MODE;
    -- Of an earlier call in the same transaction. pg_temp, for a table of yours may have any name.
    DROP TABLE IF EXISTS pg_temp.refresh_relationship, pg_temp.refresh_top, pg_temp.refresh_fresh, pg_temp.refresh_member, pg_temp.refresh_old, pg_temp.refresh_matched;
    -- A copy, for the communities that are divided anew read it once each.
    CREATE TEMP TABLE refresh_relationship ON COMMIT DROP AS SELECT * FROM entity_relationship;
    ANALYZE pg_temp.refresh_relationship;
    CREATE TEMP TABLE refresh_member (level int, name bigint, entity bigint) ON COMMIT DROP;
    CREATE TEMP TABLE refresh_old (id bigint PRIMARY KEY) ON COMMIT DROP;

    IF everything OR NOT EXISTS (SELECT FROM community) THEN
        INSERT INTO pg_temp.refresh_member SELECT * FROM hierarchy('SELECT src, dst, weight FROM pg_temp.refresh_relationship', largest);
        INSERT INTO pg_temp.refresh_old SELECT id FROM community;
    ELSE
        CREATE TEMP TABLE refresh_top ON COMMIT DROP AS SELECT * FROM edited_communities();
        INSERT INTO pg_temp.refresh_member SELECT 0, name, entity FROM pg_temp.refresh_top WHERE redo;
        INSERT INTO pg_temp.refresh_member
        SELECT level + 1, name, entity
        FROM (SELECT h.*, t.entities AS whole, count(*) OVER (PARTITION BY t.name, h.level, h.name) AS entities
              FROM (SELECT name, count(*) AS entities FROM pg_temp.refresh_top WHERE redo GROUP BY name HAVING count(*) > largest) AS t,
                  LATERAL hierarchy(format('SELECT r.src, r.dst, r.weight FROM pg_temp.refresh_relationship AS r JOIN pg_temp.refresh_top AS a ON a.entity = r.src AND a.name = %1$s
                      JOIN pg_temp.refresh_top AS b ON b.entity = r.dst AND b.name = %1$s', t.name), largest) AS h) AS divided
        WHERE entities < whole;
        INSERT INTO pg_temp.refresh_old
        SELECT DISTINCT m.community FROM member AS m WHERE m.entity IN
            (SELECT b.entity FROM member AS a JOIN community AS c ON c.id = a.community AND c.level = 0 JOIN member AS b ON b.community = c.id
             WHERE a.entity IN (SELECT entity FROM pg_temp.refresh_member UNION ALL SELECT entity FROM touched));
    END IF;
    ANALYZE pg_temp.refresh_member;

    CREATE TEMP TABLE refresh_fresh ON COMMIT DROP AS
    WITH inner_edge AS (
        SELECT a.level, a.name, string_agg(concat_ws(' ', r.src, r.dst, r.weight), ',' ORDER BY r.src, r.dst, r.weight) AS edges
        FROM pg_temp.refresh_relationship AS r JOIN pg_temp.refresh_member AS a ON a.entity = r.src JOIN pg_temp.refresh_member AS b ON b.entity = r.dst AND b.level = a.level AND b.name = a.name
        GROUP BY a.level, a.name
    ), counted AS (
        SELECT m.level, m.name, count(*) AS entities, string_agg(concat_ws(' ', m.entity, md5(e.name), md5(e.text)), ',' ORDER BY m.entity) AS members
        FROM pg_temp.refresh_member AS m JOIN entity AS e ON e.id = m.entity GROUP BY m.level, m.name
    )
    SELECT level, name, entities, md5(members || ';' || coalesce(edges, '')) AS fingerprint, NULL::bigint AS id
    FROM counted LEFT JOIN inner_edge USING (level, name);

    CREATE TEMP TABLE refresh_matched ON COMMIT DROP AS
    WITH pair AS (
        SELECT f.level, f.name, f.fingerprint, c.id, count(*)::float8 / (f.entities + c.entities - count(*)) AS likeness
        FROM pg_temp.refresh_fresh AS f JOIN pg_temp.refresh_member AS fm USING (level, name) JOIN member AS m USING (entity)
            JOIN pg_temp.refresh_old AS old ON old.id = m.community JOIN community AS c ON c.id = m.community
        GROUP BY f.level, f.name, f.fingerprint, f.entities, c.id
    ), placed AS (
        SELECT *, row_number() OVER (PARTITION BY level, name ORDER BY likeness DESC, id) AS for_fresh,
            row_number() OVER (PARTITION BY id ORDER BY likeness DESC, level, name) AS for_old
        FROM pair WHERE likeness >= 0.5
    )
    SELECT level, name, id FROM placed WHERE for_fresh = 1 AND for_old = 1;

    UPDATE pg_temp.refresh_fresh AS f SET id = m.id FROM pg_temp.refresh_matched AS m WHERE (m.level, m.name) = (f.level, f.name);
    DELETE FROM community AS c USING pg_temp.refresh_old AS old WHERE old.id = c.id AND NOT EXISTS (SELECT FROM pg_temp.refresh_fresh AS f WHERE f.id = c.id);
    GET DIAGNOSTICS gone = ROW_COUNT;
    SELECT count(*) FILTER (WHERE c.fingerprint = f.fingerprint) + (SELECT count(*) FROM community WHERE id NOT IN (SELECT id FROM pg_temp.refresh_old)), count(*) FILTER (WHERE c.fingerprint <> f.fingerprint), count(*) FILTER (WHERE c.id IS NULL)
        INTO same, changed, new FROM pg_temp.refresh_fresh AS f LEFT JOIN community AS c USING (id);

    UPDATE pg_temp.refresh_fresh SET id = nextval(pg_get_serial_sequence('community', 'id')) WHERE id IS NULL;
    INSERT INTO community AS c (id, level, entities, fingerprint) OVERRIDING SYSTEM VALUE SELECT id, level, entities, fingerprint FROM pg_temp.refresh_fresh
        ON CONFLICT (id) DO UPDATE SET level = excluded.level, entities = excluded.entities, fingerprint = excluded.fingerprint,
            stale = c.stale OR c.fingerprint <> excluded.fingerprint;
    DELETE FROM member WHERE community IN (SELECT id FROM pg_temp.refresh_old);
    INSERT INTO member SELECT f.id, m.entity FROM pg_temp.refresh_fresh AS f JOIN pg_temp.refresh_member AS m USING (level, name);

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
    modularity := emogi_modularity('SELECT src, dst, weight FROM pg_temp.refresh_relationship', 'SELECT m.entity, m.community FROM member AS m JOIN community AS c ON c.id = m.community WHERE c.level = 0');
END
$$;

-- Write about the communities that nothing has been written about, or that have changed since: their chief entities, by the weight of the
-- relationships within. In a pipeline of your own a language model writes, from the passages of these. It returns how many were written.
CREATE OR REPLACE FUNCTION summarize() RETURNS bigint
LANGUAGE sql AS $$
    WITH strength AS (
        SELECT c.id, m.entity, coalesce(sum(r.weight) FILTER (WHERE other.entity IS NOT NULL), 0) AS weight
        FROM community AS c JOIN member AS m ON m.community = c.id
            LEFT JOIN entity_neighbour AS r ON r.entity = m.entity
            LEFT JOIN member AS other ON other.community = c.id AND other.entity = r.neighbour
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
