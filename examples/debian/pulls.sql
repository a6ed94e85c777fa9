SELECT level, count(*) AS packages, (sum(installed_kb) / 1024)::int AS mb,
       array_to_string((array_agg(name ORDER BY installed_kb DESC NULLS LAST, name))[1:4], ' ') AS largest
FROM emogi_bfs('requirement',
               (SELECT id FROM package WHERE name = 'postgresql-15'))
JOIN package ON id = vertex
GROUP BY level ORDER BY level;
