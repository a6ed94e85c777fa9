-- The examples of docs/functions.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_functions;
SET search_path = test_manual_functions, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE friends (src text, dst text);
INSERT INTO friends VALUES ('alice', 'bob'), ('bob', 'carol'), ('dave', 'erin');
SELECT * FROM emogi_bfs('friends', ARRAY['bob', 'dave']);

SELECT * FROM emogi_cc_text('friends') WHERE vertex = 'carol';
