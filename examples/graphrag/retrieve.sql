-- From a question's vector to the passages that answer it, in one statement: the nearest entities and passages are where a walker starts, who
-- follows relationships either way as often as their weights say, and leaps back at every second step. Where he is most often is what
-- the question is about. So HippoRAG retrieves (its damping is 0.5, and passages start with a twentieth of their nearness).
--
-- A seed that is related to nothing is no vertex of the graph. He leaps away from it at every step, so that its rank, and the share of ranks that
-- is left to the graph, follow from its weight alone. A vector of zeros has no direction: its nearness is NaN, and it is no seed.
--
-- An index of pgvector serves an order by distance and nothing more. So twice as many are taken, and among these the ids order what is equally near.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
BEGIN;
DROP FUNCTION IF EXISTS retrieve(vector, int, int);
CREATE FUNCTION retrieve(question vector, seeds int DEFAULT 5, passages int DEFAULT 10)
RETURNS TABLE (place bigint, rank float8, chunk bigint, entity text, text text)
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$
    WITH near AS MATERIALIZED (
        (SELECT id, 1 - distance AS weight
         FROM (SELECT id, embedding <=> question AS distance FROM entity ORDER BY embedding <=> question LIMIT 2 * seeds::bigint) AS e ORDER BY distance, id LIMIT seeds)
        UNION ALL
        (SELECT id, 0.05 * (1 - distance)
         FROM (SELECT id, embedding <=> question AS distance FROM chunk ORDER BY embedding <=> question LIMIT 8 * seeds::bigint) AS c ORDER BY distance, id LIMIT 4 * seeds::bigint)
    ), seed AS MATERIALIZED (
        SELECT id, weight / sum(weight) OVER () AS share,
            EXISTS (SELECT FROM relationship WHERE src = id) OR EXISTS (SELECT FROM relationship WHERE dst = id) AS related
        FROM near WHERE weight > 0 AND weight < 'Infinity'
    ), start AS MATERIALIZED (
        SELECT 'VALUES ' || string_agg(format('(%s::bigint, %s::float8)', id, share), ', ') AS query, sum(share) AS related FROM seed WHERE related
    ), ranks AS (
        SELECT vertex, rank * (SELECT 2 * related / (1 + related) FROM start) AS rank
        FROM emogi_pagerank('relationship', damping => 0.5, tolerance => 1e-12, direction => 'both', weights => true, start => (SELECT query FROM start))
        WHERE (SELECT query FROM start) IS NOT NULL
        UNION ALL
        SELECT id, share / (1 + coalesce((SELECT related FROM start), 0)) FROM seed WHERE NOT related
    ), best AS (
        SELECT r.rank, c.id, e.name FROM ranks AS r JOIN chunk AS c ON c.id = r.vertex JOIN entity AS e ON e.id = c.entity ORDER BY r.rank DESC, c.id LIMIT passages
    )
    SELECT row_number() OVER (ORDER BY b.rank DESC, c.id), b.rank, c.id, b.name, c.text FROM best AS b JOIN chunk AS c USING (id) ORDER BY 1
$$;
COMMIT;
