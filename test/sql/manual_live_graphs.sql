-- The examples of docs/live-graphs.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_live_graphs;
SET search_path = test_manual_live_graphs, public;
SET emogi.engine = auto;
\pset footer off

SET emogi.engine = auto;
CREATE TABLE follows (src bigint, dst bigint);
INSERT INTO follows VALUES (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (6, 1);
SELECT count(*) FROM emogi_bfs('follows', 1);

INSERT INTO follows VALUES (5, 6);
SELECT count(*) FROM emogi_bfs('follows', 1);

DELETE FROM follows WHERE src = 4;
UPDATE follows SET dst = 7 WHERE src = 6;
SELECT count(*) FROM emogi_bfs('follows', 1);

SELECT cache, pages_rescanned, changes, rows FROM (SELECT * FROM emogi_runs ORDER BY id DESC LIMIT 3) AS last ORDER BY id;

BEGIN;
INSERT INTO follows VALUES (7, 8);
SELECT count(*) FROM emogi_bfs('follows', 6);

ROLLBACK;
SELECT count(*) FROM emogi_bfs('follows', 6);

SELECT cache, changes FROM (SELECT * FROM emogi_runs ORDER BY id DESC LIMIT 2) AS last ORDER BY id;

CREATE FUNCTION refuse_cycle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.src = new.dst OR EXISTS (SELECT FROM emogi_shortest_path('follows', new.dst, new.src)) THEN
        RAISE EXCEPTION '% follows %', new.dst, new.src;
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER refuse_cycle BEFORE INSERT ON follows FOR EACH ROW EXECUTE FUNCTION refuse_cycle();
INSERT INTO follows VALUES (101, 102), (102, 103), (103, 101);

DROP TRIGGER refuse_cycle ON follows;

CREATE TABLE kg (src bigint, dst bigint, kind text, valid_from date DEFAULT '2026-01-01');
INSERT INTO kg VALUES (1, 2, 'knows'), (2, 3, 'knows'), (3, 4, 'owns');
SELECT count(*) FROM emogi_bfs('kg WHERE kind = ''knows''', 1);

INSERT INTO kg VALUES (3, 5, 'knows');
SELECT count(*) FROM emogi_bfs('kg WHERE kind = ''knows''', 1);

UPDATE kg SET kind = 'knew' WHERE src = 2;
SELECT count(*) FROM emogi_bfs('kg WHERE kind = ''knows''', 1);

SELECT cache, pages_rescanned, changes, rows FROM (SELECT * FROM emogi_runs ORDER BY id DESC LIMIT 3) AS last ORDER BY id;

CREATE TABLE flights (src bigint, dst bigint);
INSERT INTO flights VALUES (1, 2), (3, 4), (5, 6);
SELECT count(DISTINCT component) FROM emogi_cc('flights');

INSERT INTO flights VALUES (4, 1);
SELECT vertex, component FROM emogi_cc('flights') WHERE vertex IN (2, 3, 6);

SELECT vertex FROM emogi_cc('flights') WHERE component = 1;

SELECT source, edges, tracker_bytes > 0 AS follows_its_table
FROM emogi_graphs WHERE source = 'follows' AND state = 'ready' ORDER BY built_at DESC LIMIT 1;
