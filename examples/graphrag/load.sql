-- Fill the tables from entity.tsv, chunk.tsv and relationship.tsv in the current folder, which corpus.py writes. What an
-- earlier load has left is replaced; with tables of those names that are not of the example it ends.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS emogi;
CREATE EXTENSION IF NOT EXISTS vector;
BEGIN;
\ir own.sql
CALL pg_temp.drop_own('entity_neighbour', 'entity_relationship', 'member', 'community', 'touched', 'term', 'relationship', 'chunk', 'entity');

-- Entities and passages are the vertices of one graph, so they have one range of ids.
CREATE TABLE entity (
    id        bigint PRIMARY KEY,
    name      text NOT NULL UNIQUE,
    kind      text NOT NULL,
    text      text NOT NULL,
    embedding vector(256)
);
CREATE TABLE chunk (
    id        bigint PRIMARY KEY,
    entity    bigint NOT NULL,       -- whose description this is a paragraph of
    number    int NOT NULL,
    text      text NOT NULL,
    embedding vector(256)
);
CREATE TABLE relationship (
    src    bigint NOT NULL,
    dst    bigint NOT NULL,
    kind   text NOT NULL,            -- asks for, is about: of entities; tells of: a passage of an entity; is like: of entities with like embeddings
    weight float8 NOT NULL CHECK (weight > 0 AND weight < 'Infinity'),
    PRIMARY KEY (src, dst, kind)
);
CREATE INDEX ON relationship (dst);
CALL pg_temp.mark_own('TABLE', 'entity', 'chunk', 'relationship');

\copy entity (id, name, kind, text) FROM 'entity.tsv'
\copy chunk (id, entity, number, text) FROM 'chunk.tsv'
\copy relationship FROM 'relationship.tsv'
COMMIT;
ANALYZE entity, chunk, relationship;
