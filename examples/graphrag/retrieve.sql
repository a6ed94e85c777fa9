-- From a question's vector to the passages that answer it, in one statement: the nearest entities and passages are where a walker starts, who
-- follows relationships either way as often as their weights say, and leaps back at every second step. Where he is most often is what
-- the question is about. So HippoRAG retrieves (its damping is 0.5, and passages start with a twentieth of their nearness).
\set ON_ERROR_STOP on
SET client_min_messages = warning;
BEGIN;
DROP FUNCTION IF EXISTS retrieve(vector, int, int);
CREATE FUNCTION retrieve(question vector, seeds int DEFAULT 5, passages int DEFAULT 10)
RETURNS TABLE (place bigint, rank float8, chunk bigint, entity text, text text)
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$
    WITH near AS MATERIALIZED (
        (SELECT id, 1 - (embedding <=> question) AS weight FROM entity ORDER BY embedding <=> question LIMIT seeds)
        UNION ALL
        (SELECT id, 0.05 * (1 - (embedding <=> question)) FROM chunk ORDER BY embedding <=> question LIMIT 4 * seeds)
    ), ranks AS (
        SELECT vertex, rank
        FROM emogi_pagerank('relationship', damping => 0.5, tolerance => 1e-12, direction => 'both', weights => true,
                            start => (SELECT 'VALUES ' || string_agg(format('(%s::bigint, %s::float8)', id, weight), ', ') FROM near WHERE weight > 0))
        WHERE EXISTS (SELECT FROM near WHERE weight > 0)
    ), best AS (
        SELECT r.rank, c.id FROM ranks AS r JOIN chunk AS c ON c.id = r.vertex ORDER BY r.rank DESC, c.id LIMIT passages
    )
    SELECT row_number() OVER (ORDER BY b.rank DESC, c.id), b.rank, c.id, e.name, c.text
    FROM best AS b JOIN chunk AS c USING (id) JOIN entity AS e ON e.id = c.entity
    ORDER BY 1
$$;
COMMIT;
