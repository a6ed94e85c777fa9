SELECT level, count(*) AS packages,
       repeat('█', ceil(40.0 * count(*) / max(count(*)) OVER ())::int) AS bar
FROM emogi_bfs('requirement',
               (SELECT id FROM package WHERE name = 'libc6'),
               direction => 'in')
GROUP BY level ORDER BY level;
