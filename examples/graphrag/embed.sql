-- Embeddings that need no model: of each text the sum of its words, a word being a random direction that its hash chooses, as long as it is
-- rare (TF-IDF, randomly projected). Texts that share rare words are near each other; that "car" means "automobile" it does not know. In
-- a pipeline of your own a model makes the vectors, and nothing below this file changes but their dimension.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
BEGIN;
CREATE TABLE term (
    word       text PRIMARY KEY,
    projection vector(256) NOT NULL  -- of one sign or the other in each dimension, times the word's weight
);
\ir own.sql
CALL pg_temp.mark_own('TABLE', 'term');

-- The direction of a word: the bits of four hashes. A hash is the same on every machine of one byte order.
CREATE OR REPLACE FUNCTION direction(word text, length float8) RETURNS vector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(length * (1 - 2 * get_bit(int8send(hashtextextended(word, seed)), bit)) ORDER BY seed, bit)::vector
    FROM generate_series(1, 4) AS seed, generate_series(0, 63) AS bit
$$;

INSERT INTO term
SELECT word, direction(word, ln((SELECT count(*) FROM entity) + (SELECT count(*) FROM chunk)) - ln(ndoc))
FROM ts_stat($$SELECT to_tsvector('english', text) FROM entity UNION ALL SELECT to_tsvector('english', text) FROM chunk$$)
WHERE ndoc > 1;
ANALYZE term;

-- The embedding of any text, such as a question; NULL where it has no word that is known.
CREATE OR REPLACE FUNCTION embed(text text) RETURNS vector
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT l2_normalize(sum(projection))
    FROM unnest(to_tsvector('english', text)) AS found, unnest(found.positions), term
    WHERE term.word = found.lexeme
$$;

-- The same for all texts at once.
CREATE TEMP TABLE embedded ON COMMIT DROP AS
SELECT id, l2_normalize(sum(projection)) AS embedding
FROM (SELECT id, text FROM entity UNION ALL SELECT id, text FROM chunk) AS texts,
     unnest(to_tsvector('english', text)) AS found, unnest(found.positions), term
WHERE term.word = found.lexeme GROUP BY id;
ANALYZE embedded;
UPDATE entity SET embedding = e.embedding FROM embedded AS e WHERE e.id = entity.id;
UPDATE chunk SET embedding = e.embedding FROM embedded AS e WHERE e.id = chunk.id;
COMMIT;
VACUUM (FULL, ANALYZE) entity;
VACUUM (FULL, ANALYZE) chunk;

-- Entities that are nearly the same thing are related, too. All pairs are looked at: the answer is the same each time, which it is
-- not with an index that guesses. From some ten thousand entities on let the index do it.
CREATE TEMP TABLE alike AS
SELECT least(a.id, near.id) AS src, greatest(a.id, near.id) AS dst, max(1 - near.distance) AS weight
FROM entity AS a,
     LATERAL (SELECT b.id, a.embedding <=> b.embedding AS distance FROM entity AS b WHERE b.id <> a.id ORDER BY distance, b.id LIMIT 5) AS near
WHERE near.distance < 0.3
GROUP BY 1, 2;
INSERT INTO relationship SELECT src, dst, 'is like', weight FROM alike;

-- For the questions: the nearest without looking at all.
CREATE INDEX entity_embedding ON entity USING hnsw (embedding vector_cosine_ops);
CREATE INDEX chunk_embedding ON chunk USING hnsw (embedding vector_cosine_ops);
VACUUM ANALYZE relationship;
