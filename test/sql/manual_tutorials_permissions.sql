-- The examples of docs/tutorials/permissions.md, in order. Written by tools/manual, which also compares the outputs: tools/manual --check.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
RESET client_min_messages;
CREATE SCHEMA test_manual_tutorials_permissions;
SET search_path = test_manual_tutorials_permissions, public;
SET emogi.engine = auto;
\pset footer off

CREATE TABLE rights (id int GENERATED ALWAYS AS IDENTITY, src text NOT NULL, dst text NOT NULL, kind text NOT NULL);
INSERT INTO rights (src, dst, kind) VALUES
    ('user:ann', 'group:backend', 'member'), ('user:bob', 'group:sales', 'member'), ('user:cleo', 'group:board', 'member'),
    ('group:backend', 'group:engineering', 'member'), ('group:engineering', 'group:staff', 'member'),
    ('group:sales', 'group:staff', 'member'), ('group:board', 'group:staff', 'member'),
    ('group:staff', 'folder:/handbook', 'grant'), ('group:engineering', 'folder:/code', 'grant'),
    ('group:board', 'folder:/finance', 'grant'), ('user:bob', 'folder:/finance/2026', 'grant'),
    ('folder:/code', 'folder:/code/server', 'contains'), ('folder:/finance', 'folder:/finance/2026', 'contains'),
    ('folder:/finance/2026', 'folder:/finance/2026/salaries', 'contains');
CREATE TABLE document (id int PRIMARY KEY, folder text NOT NULL, title text NOT NULL);
INSERT INTO document VALUES (1, 'folder:/handbook', 'Holidays'), (2, 'folder:/code/server', 'Design'),
    (3, 'folder:/finance', 'Budget'), (4, 'folder:/finance/2026/salaries', 'Salaries');

SELECT title FROM document WHERE folder IN (SELECT vertex FROM emogi_bfs('rights', 'user:ann')) ORDER BY title;

SELECT vertex AS reader FROM emogi_bfs('rights', 'folder:/finance/2026/salaries', direction => 'in') WHERE vertex LIKE 'user:%' ORDER BY vertex;

SELECT source, target, reachable
FROM emogi_reachable_text('rights', $$SELECT 'user:bob', folder FROM document$$) ORDER BY target;

SELECT seq, vertex, kind FROM emogi_shortest_path('rights', 'user:bob', 'folder:/finance/2026/salaries')
LEFT JOIN rights ON id::text = edge ORDER BY seq;

DELETE FROM rights WHERE src = 'user:bob' AND kind = 'grant';
SELECT title FROM document WHERE folder IN (SELECT vertex FROM emogi_bfs('rights', 'user:bob')) ORDER BY title;

SELECT count(*) FROM emogi_topological_order_text(
    $$SELECT src, dst FROM rights WHERE kind = 'member' UNION ALL VALUES ('group:staff', 'group:backend')$$);

CREATE FUNCTION readable_folders(reader text) RETURNS SETOF text STABLE SECURITY DEFINER
BEGIN ATOMIC SELECT vertex FROM emogi_bfs('rights'::regclass, reader); END;
SELECT title FROM document WHERE folder IN (SELECT readable_folders('user:ann')) ORDER BY title;
