-- Fill the tables of the package graph from package.tsv and dependency.tsv in the current folder (packages.pl writes
-- them). Runs again and again: what was there is replaced, in one transaction.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
BEGIN;

CREATE TABLE IF NOT EXISTS package (
    id           bigint PRIMARY KEY,
    name         text NOT NULL UNIQUE,
    version      text NOT NULL,
    section      text NOT NULL,
    installed_kb bigint,
    virtual      boolean NOT NULL      -- asked for by others, provided by some, but no package itself
);

CREATE TABLE IF NOT EXISTS dependency (
    src  bigint NOT NULL,              -- asks for
    dst  bigint NOT NULL,              -- is asked for
    kind text NOT NULL                 -- Depends, Pre-Depends, Recommends; Provides: from a virtual package to a provider
);

-- emogi needs no index; the recursive CTE that it is compared with does.
CREATE INDEX IF NOT EXISTS dependency_src ON dependency (src);
CREATE INDEX IF NOT EXISTS dependency_dst ON dependency (dst);

-- What a package cannot do without. A materialized view is a table to emogi: its graph is built once and shared.
CREATE MATERIALIZED VIEW IF NOT EXISTS requirement AS
    SELECT src, dst FROM dependency WHERE kind IN ('Depends', 'Pre-Depends');
CREATE INDEX IF NOT EXISTS requirement_src ON requirement (src);
CREATE INDEX IF NOT EXISTS requirement_dst ON requirement (dst);

TRUNCATE package, dependency;
\copy package FROM 'package.tsv'
\copy dependency FROM 'dependency.tsv'
REFRESH MATERIALIZED VIEW requirement;
COMMIT;

VACUUM ANALYZE package, dependency, requirement;
