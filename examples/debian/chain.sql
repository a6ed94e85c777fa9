SELECT seq, name AS package, installed_kb AS kb, distance AS kb_so_far
FROM emogi_shortest_path($$SELECT src, dst, coalesce(installed_kb, 0) FROM dependency JOIN package ON id = dst
                           WHERE kind IN ('Depends', 'Pre-Depends')$$,
                         (SELECT id FROM package WHERE name = :'desktop'),
                         (SELECT id FROM package WHERE name = :'target'))
JOIN package ON id = vertex
ORDER BY seq;
