SELECT format('%s of %s', row_number() OVER (ORDER BY count(*) DESC, component), count(*) OVER ()) AS island,
       count(*) AS packages, array_to_string((array_agg(name ORDER BY length(name), name))[1:3], ' ') AS sample
FROM emogi_cc('requirement')
JOIN package ON id = vertex
GROUP BY component
ORDER BY packages DESC, component LIMIT 8;
