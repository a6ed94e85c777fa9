SELECT name AS package, level AS hops, paths AS chains
FROM emogi_ssnsp('requirement',
                 (SELECT id FROM package WHERE name = 'libc6'),
                 direction => 'in')
JOIN package ON id = vertex
WHERE name IN (:'desktop', 'task-gnome-flashback-desktop', 'kde-full', 'task-cinnamon-desktop', 'postgresql-15')
ORDER BY paths DESC, name;
