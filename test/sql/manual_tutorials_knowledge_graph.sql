-- The examples of docs/tutorials/knowledge-graph.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_tutorials_knowledge_graph;
SET search_path = test_manual_tutorials_knowledge_graph, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE entity (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE passage (id int PRIMARY KEY, text text NOT NULL);
CREATE TABLE relationship (src int NOT NULL, dst int NOT NULL, kind text NOT NULL, weight float8 NOT NULL);
INSERT INTO entity VALUES (1, 'Ada Lovelace'), (2, 'Charles Babbage'), (3, 'Analytical Engine'), (4, 'Luigi Menabrea'), (5, 'Bernoulli numbers'),
    (6, 'Alan Turing'), (7, 'Enigma'), (8, 'Bletchley Park'), (9, 'Bombe'), (10, 'Joan Clarke'), (11, 'Grace Hopper'), (12, 'COBOL'), (13, 'UNIVAC');
INSERT INTO passage VALUES
    (101, 'Menabrea described the Analytical Engine in 1842.'), (102, 'Lovelace translated Menabrea and added notes.'),
    (103, 'Note G computes Bernoulli numbers on the engine.'), (104, 'Babbage never completed the engine.'),
    (105, 'Turing designed the Bombe at Bletchley Park.'), (106, 'Clarke broke Enigma messages with Turing.'),
    (107, 'Turing answered an objection of Lovelace in 1950.'), (108, 'Hopper wrote a compiler for the UNIVAC.'), (109, 'COBOL is based on languages of Hopper.');
INSERT INTO relationship VALUES
    (101, 4, 'mentions', 1), (101, 3, 'mentions', 1), (102, 1, 'mentions', 1), (102, 4, 'mentions', 1), (103, 5, 'mentions', 1),
    (103, 3, 'mentions', 1), (104, 2, 'mentions', 1), (104, 3, 'mentions', 1), (105, 6, 'mentions', 1), (105, 9, 'mentions', 1),
    (105, 8, 'mentions', 1), (106, 10, 'mentions', 1), (106, 7, 'mentions', 1), (106, 6, 'mentions', 1), (107, 6, 'mentions', 1),
    (107, 1, 'mentions', 1), (108, 11, 'mentions', 1), (108, 13, 'mentions', 1), (109, 12, 'mentions', 1), (109, 11, 'mentions', 1),
    (1, 5, 'computed', 3), (2, 3, 'designed', 3), (4, 3, 'described', 2), (1, 3, 'programmed', 3), (6, 9, 'designed', 3),
    (9, 7, 'broke', 3), (6, 8, 'worked at', 2), (10, 8, 'worked at', 2), (11, 12, 'designed', 3), (11, 13, 'programmed', 3);

CREATE FUNCTION start_of(question text) RETURNS TABLE (id int, weight float8) STABLE
BEGIN ATOMIC
    SELECT id, 1.0 FROM entity WHERE EXISTS (
        SELECT FROM regexp_split_to_table(lower(question), '\W+') AS word WHERE length(word) > 3 AND lower(name) LIKE '%' || word || '%');
END;
SELECT name FROM start_of('What did Lovelace compute?') JOIN entity USING (id);

CREATE FUNCTION retrieve(question text, passages int) RETURNS TABLE (rank numeric, text text) STABLE
BEGIN ATOMIC
    SELECT round(r.rank::numeric, 3), p.text
    FROM emogi_pagerank('relationship'::regclass, damping => 0.5, direction => 'both', weights => true,
             start => (SELECT 'VALUES ' || string_agg(format('(%s, %s)', id, weight), ', ') FROM start_of(question))) AS r
    JOIN passage AS p ON p.id = r.vertex
    ORDER BY r.rank DESC, p.id LIMIT passages;
END;
SELECT * FROM retrieve('What did Lovelace compute?', 3);

SELECT path_id, string_agg(coalesce(name, vertex::text), ' - ' ORDER BY seq) AS path
FROM emogi_k_shortest_paths('relationship(src, dst)', 1, 7, 3, direction => 'both') LEFT JOIN entity ON id = vertex
GROUP BY path_id ORDER BY path_id;

CREATE TABLE community AS
SELECT max(level) OVER () - level AS level, community, parent, vertex
FROM emogi_leiden($$relationship WHERE kind <> 'mentions'$$, max_cluster_size => 4);
SELECT level, community, parent, string_agg(name, ', ' ORDER BY name) AS entities
FROM community JOIN entity ON id = vertex GROUP BY level, community, parent ORDER BY level, community;

WITH c AS (SELECT level, community, parent, count(*) AS entities FROM community GROUP BY level, community, parent)
SELECT c.level, c.community, c.entities FROM c LEFT JOIN c AS p ON p.level = c.level - 1 AND p.community = c.parent
WHERE p.entities IS DISTINCT FROM c.entities ORDER BY c.level, c.community;

INSERT INTO passage VALUES (110, 'Lovelace took the idea of punched cards from Jacquard.');
INSERT INTO relationship VALUES (110, 1, 'mentions', 4);
SELECT * FROM retrieve('What did Lovelace compute?', 1);
