-- Three questions, the passages that answer them, and the communities that these are of.
\set ON_ERROR_STOP on
\pset footer off
SET client_min_messages = warning;
\echo 'SELECT place, rank, entity, text FROM retrieve(embed(''play chess against the computer'')) LIMIT 5'
\echo
SELECT place, round(rank::numeric, 4) AS rank, entity, left(text, 90) AS text FROM retrieve(embed('play chess against the computer')) LIMIT 5;
\echo 'SELECT place, rank, entity, text FROM retrieve(embed(''edit sound recordings and remove the noise'')) LIMIT 5'
\echo
SELECT place, round(rank::numeric, 4) AS rank, entity, left(text, 90) AS text FROM retrieve(embed('edit sound recordings and remove the noise')) LIMIT 5;
\echo 'The communities of the entities that these passages are about, from the whole down:'
\echo
SELECT c.level, c.id, c.entities, count(*) AS passages, left(c.summary, 90) AS summary
FROM retrieve(embed('edit sound recordings and remove the noise')) AS r JOIN entity AS e ON e.name = r.entity
    JOIN member AS m ON m.entity = e.id JOIN community AS c ON c.id = m.community
GROUP BY c.id ORDER BY passages DESC, c.level, c.id LIMIT 5;
