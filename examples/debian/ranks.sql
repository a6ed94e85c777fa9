SELECT row_number() OVER (ORDER BY rank DESC, vertex) AS nr, name AS package, round((100 * rank)::numeric, 2) AS percent,
       repeat('█', ceil(40 * rank / max(rank) OVER ())::int) AS bar
FROM emogi_pagerank('requirement')
JOIN package ON id = vertex
ORDER BY nr LIMIT 10;
