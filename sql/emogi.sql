-- emogi: the whole script of the current version; copied to emogi--VERSION.sql when the extension is built,
-- with the version in it.
\echo Use "CREATE EXTENSION emogi" to load this file. \quit

-- A server that has not been restarted since emogi was updated still has the older library, which says so here.
CREATE FUNCTION _emogi_script(version text) RETURNS void AS 'MODULE_PATHNAME', 'emogi_script' LANGUAGE C STRICT;
SELECT _emogi_script('@EXTVERSION@');
DROP FUNCTION _emogi_script(text);

CREATE FUNCTION emogi_version() RETURNS text
AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION emogi_version() IS 'version of the emogi library that is loaded';

-- Functions for emogi itself begin with an underscore, out of the way of \df emogi_*.

-- Where rows of a query enter a graph under construction. Without a call in progress it raises an error.
CREATE FUNCTION _emogi_sink_transition(internal, bigint, bigint, bigint) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_transition_weighted(internal, bigint, bigint, bigint, float8) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_weighted' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_combine(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_combine' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_serialize(internal) RETURNS bytea
AS 'MODULE_PATHNAME', 'emogi_sink_serialize' LANGUAGE C STRICT PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_deserialize(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_deserialize' LANGUAGE C STRICT PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_final(internal) RETURNS bigint
AS 'MODULE_PATHNAME', 'emogi_sink_final' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE _emogi_sink(token bigint, src bigint, dst bigint) (
	SFUNC = _emogi_sink_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink(bigint, bigint, bigint) IS 'for the use of emogi itself';

CREATE AGGREGATE _emogi_sink(token bigint, src bigint, dst bigint, weight float8) (
	SFUNC = _emogi_sink_transition_weighted,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink(bigint, bigint, bigint, float8) IS 'for the use of emogi itself';

-- The same for vertices that are no integers.
CREATE FUNCTION _emogi_sink_transition(internal, bigint, anyelement, anyelement) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_keys' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_transition_weighted(internal, bigint, anyelement, anyelement, float8) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_keys' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE _emogi_sink(token bigint, src anyelement, dst anyelement) (
	SFUNC = _emogi_sink_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink(bigint, anyelement, anyelement) IS 'for the use of emogi itself';

CREATE AGGREGATE _emogi_sink(token bigint, src anyelement, dst anyelement, weight float8) (
	SFUNC = _emogi_sink_transition_weighted,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink(bigint, anyelement, anyelement, float8) IS 'for the use of emogi itself';

-- The same for vertices that are rows of several columns.
CREATE FUNCTION _emogi_sink_transition_rows(internal, bigint, record, record) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_rows' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_transition_rows(internal, bigint, record, record, float8) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_rows' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE _emogi_sink_rows(token bigint, src record, dst record) (
	SFUNC = _emogi_sink_transition_rows,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_rows(bigint, record, record) IS 'for the use of emogi itself';

CREATE AGGREGATE _emogi_sink_rows(token bigint, src record, dst record, weight float8) (
	SFUNC = _emogi_sink_transition_rows,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_rows(bigint, record, record, float8) IS 'for the use of emogi itself';

-- The same with vertices beside the edges, which may have none.
CREATE FUNCTION _emogi_sink_vertices_transition(internal, bigint, bigint, bigint, bigint) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_vertices' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_vertices_transition(internal, bigint, bigint, bigint, bigint, float8) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_vertices' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_vertices_transition(internal, bigint, anyelement, anyelement, anyelement) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_keys_vertices' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_vertices_transition(internal, bigint, anyelement, anyelement, anyelement, float8) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_keys_vertices' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_rows_vertices_transition(internal, bigint, record, record, record) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_rows_vertices' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION _emogi_sink_rows_vertices_transition(internal, bigint, record, record, record, float8) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_sink_transition_rows_vertices' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE _emogi_sink_vertices(token bigint, src bigint, dst bigint, vertex bigint) (
	SFUNC = _emogi_sink_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_vertices(bigint, bigint, bigint, bigint) IS 'for the use of emogi itself';

CREATE AGGREGATE _emogi_sink_vertices(token bigint, src bigint, dst bigint, vertex bigint, weight float8) (
	SFUNC = _emogi_sink_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_vertices(bigint, bigint, bigint, bigint, float8) IS 'for the use of emogi itself';

CREATE AGGREGATE _emogi_sink_vertices(token bigint, src anyelement, dst anyelement, vertex anyelement) (
	SFUNC = _emogi_sink_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_vertices(bigint, anyelement, anyelement, anyelement) IS 'for the use of emogi itself';

CREATE AGGREGATE _emogi_sink_vertices(token bigint, src anyelement, dst anyelement, vertex anyelement, weight float8) (
	SFUNC = _emogi_sink_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_vertices(bigint, anyelement, anyelement, anyelement, float8) IS 'for the use of emogi itself';

CREATE AGGREGATE _emogi_sink_rows_vertices(token bigint, src record, dst record, vertex record) (
	SFUNC = _emogi_sink_rows_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_rows_vertices(bigint, record, record, record) IS 'for the use of emogi itself';

CREATE AGGREGATE _emogi_sink_rows_vertices(token bigint, src record, dst record, vertex record, weight float8) (
	SFUNC = _emogi_sink_rows_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_rows_vertices(bigint, record, record, record, float8) IS 'for the use of emogi itself';

-- What the planner asks about the functions below.
CREATE FUNCTION _emogi_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_support' LANGUAGE C STRICT PARALLEL SAFE;

-- The graph is text, or a relation (regclass) with the names of columns as the last argument: stored in a view or a function of
-- SQL, that is a dependency, which text is not. A source is one vertex or several (an array; the nearest counts). Its type is that of
-- the vertices returned: bigint, uuid, or text, which serves keys of all types by their text form. Text is also what drivers pass of
-- which they do not know the type, and untyped literals and NULL; where keys are integers it may have several: '{1,2}'.

CREATE FUNCTION emogi_query(query text, VARIADIC params text[] DEFAULT '{}') RETURNS text
AS 'MODULE_PATHNAME', 'emogi_query' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION emogi_query(text, text[]) IS 'a query for the graph argument, with values for its parameters $1, $2 and so on';

CREATE FUNCTION emogi_query(query text, VARIADIC params "any") RETURNS text
AS 'MODULE_PATHNAME', 'emogi_query_any' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION emogi_query(text, "any") IS 'a query for the graph argument, with values for its parameters $1, $2 and so on';

CREATE FUNCTION emogi_with_vertices(graph text, vertices text) RETURNS text
AS 'MODULE_PATHNAME', 'emogi_with_vertices' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION emogi_with_vertices(text, text) IS 'a query for the graph argument: a graph, and vertices that are in it with or without an edge';

-- Functions with a source.

CREATE FUNCTION emogi_bfs(graph text, source bigint, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(text, bigint, int, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph text, source bigint[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(text, bigint[], int, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph text, source text, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex text, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(text, text, int, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph text, source text[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex text, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(text, text[], int, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph text, source uuid, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex uuid, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(text, uuid, int, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph text, source uuid[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex uuid, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(text, uuid[], int, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph regclass, source bigint, max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(regclass, bigint, int, text, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph regclass, source bigint[], max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(regclass, bigint[], int, text, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph regclass, source text, max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(regclass, text, int, text, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph regclass, source text[], max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(regclass, text[], int, text, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph regclass, source uuid, max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(regclass, uuid, int, text, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph regclass, source uuid[], max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs(regclass, uuid[], int, text, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs_tree(graph text, source bigint, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT level int, OUT predecessor bigint, OUT edge bigint, OUT source bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(text, bigint, int, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph text, source bigint[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT level int, OUT predecessor bigint, OUT edge bigint, OUT source bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(text, bigint[], int, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph text, source text, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex text, OUT level int, OUT predecessor text, OUT edge text, OUT source text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(text, text, int, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph text, source text[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex text, OUT level int, OUT predecessor text, OUT edge text, OUT source text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(text, text[], int, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph text, source uuid, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex uuid, OUT level int, OUT predecessor uuid, OUT edge uuid, OUT source uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(text, uuid, int, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph text, source uuid[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex uuid, OUT level int, OUT predecessor uuid, OUT edge uuid, OUT source uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(text, uuid[], int, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph regclass, source bigint, max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT level int, OUT predecessor bigint, OUT edge bigint, OUT source bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(regclass, bigint, int, text, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph regclass, source bigint[], max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT level int, OUT predecessor bigint, OUT edge bigint, OUT source bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(regclass, bigint[], int, text, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph regclass, source text, max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT level int, OUT predecessor text, OUT edge text, OUT source text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(regclass, text, int, text, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph regclass, source text[], max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT level int, OUT predecessor text, OUT edge text, OUT source text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(regclass, text[], int, text, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph regclass, source uuid, max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT level int, OUT predecessor uuid, OUT edge uuid, OUT source uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(regclass, uuid, int, text, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_bfs_tree(graph regclass, source uuid[], max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT level int, OUT predecessor uuid, OUT edge uuid, OUT source uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bfs_tree(regclass, uuid[], int, text, text) IS 'vertices reached, with the fewest hops to each and the vertex before on such a path';

CREATE FUNCTION emogi_sssp(graph text, source bigint, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(text, bigint, float8, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph text, source bigint[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(text, bigint[], float8, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph text, source text, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex text, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(text, text, float8, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph text, source text[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex text, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(text, text[], float8, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph text, source uuid, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex uuid, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(text, uuid, float8, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph text, source uuid[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex uuid, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(text, uuid[], float8, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph regclass, source bigint, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(regclass, bigint, float8, text, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph regclass, source bigint[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(regclass, bigint[], float8, text, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph regclass, source text, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(regclass, text, float8, text, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph regclass, source text[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(regclass, text[], float8, text, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph regclass, source uuid, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(regclass, uuid, float8, text, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph regclass, source uuid[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sssp(regclass, uuid[], float8, text, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_shortest_path_tree(graph text, source bigint, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT distance float8, OUT predecessor bigint, OUT edge bigint, OUT source bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(text, bigint, float8, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph text, source bigint[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT distance float8, OUT predecessor bigint, OUT edge bigint, OUT source bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(text, bigint[], float8, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph text, source text, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex text, OUT distance float8, OUT predecessor text, OUT edge text, OUT source text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(text, text, float8, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph text, source text[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex text, OUT distance float8, OUT predecessor text, OUT edge text, OUT source text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(text, text[], float8, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph text, source uuid, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex uuid, OUT distance float8, OUT predecessor uuid, OUT edge uuid, OUT source uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(text, uuid, float8, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph text, source uuid[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex uuid, OUT distance float8, OUT predecessor uuid, OUT edge uuid, OUT source uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(text, uuid[], float8, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph regclass, source bigint, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT distance float8, OUT predecessor bigint, OUT edge bigint, OUT source bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(regclass, bigint, float8, text, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph regclass, source bigint[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT distance float8, OUT predecessor bigint, OUT edge bigint, OUT source bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(regclass, bigint[], float8, text, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph regclass, source text, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT distance float8, OUT predecessor text, OUT edge text, OUT source text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(regclass, text, float8, text, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph regclass, source text[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT distance float8, OUT predecessor text, OUT edge text, OUT source text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(regclass, text[], float8, text, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph regclass, source uuid, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT distance float8, OUT predecessor uuid, OUT edge uuid, OUT source uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(regclass, uuid, float8, text, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_shortest_path_tree(graph regclass, source uuid[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT distance float8, OUT predecessor uuid, OUT edge uuid, OUT source uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path_tree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path_tree(regclass, uuid[], float8, text, text) IS 'vertices reached, with the least sum of weights to each and the vertex before on such a path';

CREATE FUNCTION emogi_sswp(graph text, source bigint, direction text DEFAULT 'out',
	OUT vertex bigint, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(text, bigint, text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph text, source bigint[], direction text DEFAULT 'out',
	OUT vertex bigint, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(text, bigint[], text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph text, source text, direction text DEFAULT 'out',
	OUT vertex text, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(text, text, text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph text, source text[], direction text DEFAULT 'out',
	OUT vertex text, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(text, text[], text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph text, source uuid, direction text DEFAULT 'out',
	OUT vertex uuid, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(text, uuid, text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph text, source uuid[], direction text DEFAULT 'out',
	OUT vertex uuid, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(text, uuid[], text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph regclass, source bigint, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(regclass, bigint, text, text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph regclass, source bigint[], direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(regclass, bigint[], text, text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph regclass, source text, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(regclass, text, text, text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph regclass, source text[], direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(regclass, text[], text, text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph regclass, source uuid, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(regclass, uuid, text, text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph regclass, source uuid[], direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_sswp(regclass, uuid[], text, text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_ssnsp(graph text, source bigint, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(text, bigint, int, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph text, source bigint[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(text, bigint[], int, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph text, source text, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex text, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(text, text, int, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph text, source text[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex text, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(text, text[], int, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph text, source uuid, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex uuid, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(text, uuid, int, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph text, source uuid[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex uuid, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(text, uuid[], int, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph regclass, source bigint, max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(regclass, bigint, int, text, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph regclass, source bigint[], max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(regclass, bigint[], int, text, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph regclass, source text, max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(regclass, text, int, text, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph regclass, source text[], max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(regclass, text[], int, text, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph regclass, source uuid, max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(regclass, uuid, int, text, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph regclass, source uuid[], max_depth int DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_ssnsp(regclass, uuid[], int, text, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

-- Functions of the whole graph. There is no argument to tell the type of the vertices returned by, so the name does. An argument of a
-- polymorphic type cannot: where it has a default PostgreSQL does not resolve the columns of the result, and where it has none, or is one
-- of several types, calls that were clear no longer are.

CREATE FUNCTION emogi_cc(graph text,
	OUT vertex bigint, OUT component bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cc(text) IS 'weakly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_cc_text(graph text,
	OUT vertex text, OUT component text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cc_text(text) IS 'weakly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_cc_uuid(graph text,
	OUT vertex uuid, OUT component uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cc_uuid(text) IS 'weakly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_cc(graph regclass, columns text DEFAULT NULL,
	OUT vertex bigint, OUT component bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cc(regclass, text) IS 'weakly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_cc_text(graph regclass, columns text DEFAULT NULL,
	OUT vertex text, OUT component text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cc_text(regclass, text) IS 'weakly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_cc_uuid(graph regclass, columns text DEFAULT NULL,
	OUT vertex uuid, OUT component uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cc_uuid(regclass, text) IS 'weakly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_scc(graph text,
	OUT vertex bigint, OUT component bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_scc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_scc(text) IS 'strongly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_scc_text(graph text,
	OUT vertex text, OUT component text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_scc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_scc_text(text) IS 'strongly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_scc_uuid(graph text,
	OUT vertex uuid, OUT component uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_scc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_scc_uuid(text) IS 'strongly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_scc(graph regclass, columns text DEFAULT NULL,
	OUT vertex bigint, OUT component bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_scc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_scc(regclass, text) IS 'strongly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_scc_text(graph regclass, columns text DEFAULT NULL,
	OUT vertex text, OUT component text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_scc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_scc_text(regclass, text) IS 'strongly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_scc_uuid(graph regclass, columns text DEFAULT NULL,
	OUT vertex uuid, OUT component uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_scc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_scc_uuid(regclass, text) IS 'strongly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_triangles(graph text,
	OUT vertex bigint, OUT triangles bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_triangles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_triangles(text) IS 'the number of triangles that each vertex is in, of the simple undirected graph';

CREATE FUNCTION emogi_triangles_text(graph text,
	OUT vertex text, OUT triangles bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_triangles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_triangles_text(text) IS 'the number of triangles that each vertex is in, of the simple undirected graph';

CREATE FUNCTION emogi_triangles_uuid(graph text,
	OUT vertex uuid, OUT triangles bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_triangles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_triangles_uuid(text) IS 'the number of triangles that each vertex is in, of the simple undirected graph';

CREATE FUNCTION emogi_triangles(graph regclass, columns text DEFAULT NULL,
	OUT vertex bigint, OUT triangles bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_triangles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_triangles(regclass, text) IS 'the number of triangles that each vertex is in, of the simple undirected graph';

CREATE FUNCTION emogi_triangles_text(graph regclass, columns text DEFAULT NULL,
	OUT vertex text, OUT triangles bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_triangles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_triangles_text(regclass, text) IS 'the number of triangles that each vertex is in, of the simple undirected graph';

CREATE FUNCTION emogi_triangles_uuid(graph regclass, columns text DEFAULT NULL,
	OUT vertex uuid, OUT triangles bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_triangles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_triangles_uuid(regclass, text) IS 'the number of triangles that each vertex is in, of the simple undirected graph';

CREATE FUNCTION emogi_triangle_count(graph text) RETURNS bigint
AS 'MODULE_PATHNAME', 'emogi_triangle_count' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION emogi_triangle_count(text) IS 'the number of triangles of the simple undirected graph';

CREATE FUNCTION emogi_triangle_count(graph regclass, columns text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'emogi_triangle_count' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION emogi_triangle_count(regclass, text) IS 'the number of triangles of the simple undirected graph';

CREATE FUNCTION emogi_lcc(graph text, direction text DEFAULT 'both',
	OUT vertex bigint, OUT coefficient float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_lcc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_lcc(text, text) IS 'local clustering coefficients';

CREATE FUNCTION emogi_lcc_text(graph text, direction text DEFAULT 'both',
	OUT vertex text, OUT coefficient float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_lcc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_lcc_text(text, text) IS 'local clustering coefficients';

CREATE FUNCTION emogi_lcc_uuid(graph text, direction text DEFAULT 'both',
	OUT vertex uuid, OUT coefficient float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_lcc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_lcc_uuid(text, text) IS 'local clustering coefficients';

CREATE FUNCTION emogi_lcc(graph regclass, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex bigint, OUT coefficient float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_lcc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_lcc(regclass, text, text) IS 'local clustering coefficients';

CREATE FUNCTION emogi_lcc_text(graph regclass, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex text, OUT coefficient float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_lcc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_lcc_text(regclass, text, text) IS 'local clustering coefficients';

CREATE FUNCTION emogi_lcc_uuid(graph regclass, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex uuid, OUT coefficient float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_lcc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_lcc_uuid(regclass, text, text) IS 'local clustering coefficients';

CREATE FUNCTION emogi_core(graph text,
	OUT vertex bigint, OUT core int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_core' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_core(text) IS 'core numbers of the simple undirected graph';

CREATE FUNCTION emogi_core_text(graph text,
	OUT vertex text, OUT core int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_core' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_core_text(text) IS 'core numbers of the simple undirected graph';

CREATE FUNCTION emogi_core_uuid(graph text,
	OUT vertex uuid, OUT core int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_core' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_core_uuid(text) IS 'core numbers of the simple undirected graph';

CREATE FUNCTION emogi_core(graph regclass, columns text DEFAULT NULL,
	OUT vertex bigint, OUT core int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_core' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_core(regclass, text) IS 'core numbers of the simple undirected graph';

CREATE FUNCTION emogi_core_text(graph regclass, columns text DEFAULT NULL,
	OUT vertex text, OUT core int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_core' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_core_text(regclass, text) IS 'core numbers of the simple undirected graph';

CREATE FUNCTION emogi_core_uuid(graph regclass, columns text DEFAULT NULL,
	OUT vertex uuid, OUT core int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_core' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_core_uuid(regclass, text) IS 'core numbers of the simple undirected graph';

CREATE FUNCTION emogi_cdlp(graph text, max_iterations int DEFAULT 10, direction text DEFAULT 'both',
	OUT vertex bigint, OUT label bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cdlp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cdlp(text, int, text) IS 'communities by label propagation, each named by one of its vertices';

CREATE FUNCTION emogi_cdlp_text(graph text, max_iterations int DEFAULT 10, direction text DEFAULT 'both',
	OUT vertex text, OUT label text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cdlp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cdlp_text(text, int, text) IS 'communities by label propagation, each named by one of its vertices';

CREATE FUNCTION emogi_cdlp_uuid(graph text, max_iterations int DEFAULT 10, direction text DEFAULT 'both',
	OUT vertex uuid, OUT label uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cdlp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cdlp_uuid(text, int, text) IS 'communities by label propagation, each named by one of its vertices';

CREATE FUNCTION emogi_cdlp(graph regclass, max_iterations int DEFAULT 10, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex bigint, OUT label bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cdlp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cdlp(regclass, int, text, text) IS 'communities by label propagation, each named by one of its vertices';

CREATE FUNCTION emogi_cdlp_text(graph regclass, max_iterations int DEFAULT 10, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex text, OUT label text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cdlp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cdlp_text(regclass, int, text, text) IS 'communities by label propagation, each named by one of its vertices';

CREATE FUNCTION emogi_cdlp_uuid(graph regclass, max_iterations int DEFAULT 10, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex uuid, OUT label uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cdlp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_cdlp_uuid(regclass, int, text, text) IS 'communities by label propagation, each named by one of its vertices';

CREATE FUNCTION emogi_louvain(graph text, resolution float8 DEFAULT 1, max_levels int DEFAULT NULL, tolerance float8 DEFAULT 1e-7, seed bigint DEFAULT 0,
	OUT vertex bigint, OUT level int, OUT community bigint, OUT parent bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_louvain' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_louvain(text, float8, int, float8, bigint) IS 'communities by modularity, by Louvain, a row for each vertex and level';

CREATE FUNCTION emogi_louvain_text(graph text, resolution float8 DEFAULT 1, max_levels int DEFAULT NULL, tolerance float8 DEFAULT 1e-7, seed bigint DEFAULT 0,
	OUT vertex text, OUT level int, OUT community text, OUT parent text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_louvain' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_louvain_text(text, float8, int, float8, bigint) IS 'communities by modularity, by Louvain, a row for each vertex and level';

CREATE FUNCTION emogi_louvain_uuid(graph text, resolution float8 DEFAULT 1, max_levels int DEFAULT NULL, tolerance float8 DEFAULT 1e-7, seed bigint DEFAULT 0,
	OUT vertex uuid, OUT level int, OUT community uuid, OUT parent uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_louvain' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_louvain_uuid(text, float8, int, float8, bigint) IS 'communities by modularity, by Louvain, a row for each vertex and level';

CREATE FUNCTION emogi_louvain(graph regclass, resolution float8 DEFAULT 1, max_levels int DEFAULT NULL, tolerance float8 DEFAULT 1e-7, seed bigint DEFAULT 0, columns text DEFAULT NULL,
	OUT vertex bigint, OUT level int, OUT community bigint, OUT parent bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_louvain' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_louvain(regclass, float8, int, float8, bigint, text) IS 'communities by modularity, by Louvain, a row for each vertex and level';

CREATE FUNCTION emogi_louvain_text(graph regclass, resolution float8 DEFAULT 1, max_levels int DEFAULT NULL, tolerance float8 DEFAULT 1e-7, seed bigint DEFAULT 0, columns text DEFAULT NULL,
	OUT vertex text, OUT level int, OUT community text, OUT parent text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_louvain' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_louvain_text(regclass, float8, int, float8, bigint, text) IS 'communities by modularity, by Louvain, a row for each vertex and level';

CREATE FUNCTION emogi_louvain_uuid(graph regclass, resolution float8 DEFAULT 1, max_levels int DEFAULT NULL, tolerance float8 DEFAULT 1e-7, seed bigint DEFAULT 0, columns text DEFAULT NULL,
	OUT vertex uuid, OUT level int, OUT community uuid, OUT parent uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_louvain' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_louvain_uuid(regclass, float8, int, float8, bigint, text) IS 'communities by modularity, by Louvain, a row for each vertex and level';

CREATE FUNCTION emogi_leiden(graph text, resolution float8 DEFAULT 1, theta float8 DEFAULT 0.01, max_cluster_size int DEFAULT NULL,
	max_levels int DEFAULT NULL, seed bigint DEFAULT 0,
	OUT vertex bigint, OUT level int, OUT community bigint, OUT parent bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_leiden' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_leiden(text, float8, float8, int, int, bigint) IS 'communities by modularity, connected, by Leiden, a row for each vertex and level';

CREATE FUNCTION emogi_leiden_text(graph text, resolution float8 DEFAULT 1, theta float8 DEFAULT 0.01, max_cluster_size int DEFAULT NULL,
	max_levels int DEFAULT NULL, seed bigint DEFAULT 0,
	OUT vertex text, OUT level int, OUT community text, OUT parent text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_leiden' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_leiden_text(text, float8, float8, int, int, bigint) IS 'communities by modularity, connected, by Leiden, a row for each vertex and level';

CREATE FUNCTION emogi_leiden_uuid(graph text, resolution float8 DEFAULT 1, theta float8 DEFAULT 0.01, max_cluster_size int DEFAULT NULL,
	max_levels int DEFAULT NULL, seed bigint DEFAULT 0,
	OUT vertex uuid, OUT level int, OUT community uuid, OUT parent uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_leiden' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_leiden_uuid(text, float8, float8, int, int, bigint) IS 'communities by modularity, connected, by Leiden, a row for each vertex and level';

CREATE FUNCTION emogi_leiden(graph regclass, resolution float8 DEFAULT 1, theta float8 DEFAULT 0.01, max_cluster_size int DEFAULT NULL,
	max_levels int DEFAULT NULL, seed bigint DEFAULT 0, columns text DEFAULT NULL,
	OUT vertex bigint, OUT level int, OUT community bigint, OUT parent bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_leiden' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_leiden(regclass, float8, float8, int, int, bigint, text) IS 'communities by modularity, connected, by Leiden, a row for each vertex and level';

CREATE FUNCTION emogi_leiden_text(graph regclass, resolution float8 DEFAULT 1, theta float8 DEFAULT 0.01, max_cluster_size int DEFAULT NULL,
	max_levels int DEFAULT NULL, seed bigint DEFAULT 0, columns text DEFAULT NULL,
	OUT vertex text, OUT level int, OUT community text, OUT parent text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_leiden' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_leiden_text(regclass, float8, float8, int, int, bigint, text) IS 'communities by modularity, connected, by Leiden, a row for each vertex and level';

CREATE FUNCTION emogi_leiden_uuid(graph regclass, resolution float8 DEFAULT 1, theta float8 DEFAULT 0.01, max_cluster_size int DEFAULT NULL,
	max_levels int DEFAULT NULL, seed bigint DEFAULT 0, columns text DEFAULT NULL,
	OUT vertex uuid, OUT level int, OUT community uuid, OUT parent uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_leiden' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_leiden_uuid(regclass, float8, float8, int, int, bigint, text) IS 'communities by modularity, connected, by Leiden, a row for each vertex and level';

CREATE FUNCTION emogi_modularity(graph text, communities text, resolution float8 DEFAULT 1)
RETURNS float8
AS 'MODULE_PATHNAME', 'emogi_modularity' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION emogi_modularity(text, text, float8) IS 'the modularity of communities that a query returns';

CREATE FUNCTION emogi_modularity(graph regclass, communities text, resolution float8 DEFAULT 1, columns text DEFAULT NULL)
RETURNS float8
AS 'MODULE_PATHNAME', 'emogi_modularity' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION emogi_modularity(regclass, text, float8, text) IS 'the modularity of communities that a query returns';

CREATE FUNCTION emogi_degree(graph text, direction text DEFAULT 'out',
	OUT vertex bigint, OUT degree bigint, OUT strength float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_degree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_degree(text, text) IS 'the number of edges of each vertex, and the sum of their weights';

CREATE FUNCTION emogi_degree_text(graph text, direction text DEFAULT 'out',
	OUT vertex text, OUT degree bigint, OUT strength float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_degree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_degree_text(text, text) IS 'the number of edges of each vertex, and the sum of their weights';

CREATE FUNCTION emogi_degree_uuid(graph text, direction text DEFAULT 'out',
	OUT vertex uuid, OUT degree bigint, OUT strength float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_degree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_degree_uuid(text, text) IS 'the number of edges of each vertex, and the sum of their weights';

CREATE FUNCTION emogi_degree(graph regclass, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT degree bigint, OUT strength float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_degree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_degree(regclass, text, text) IS 'the number of edges of each vertex, and the sum of their weights';

CREATE FUNCTION emogi_degree_text(graph regclass, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT degree bigint, OUT strength float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_degree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_degree_text(regclass, text, text) IS 'the number of edges of each vertex, and the sum of their weights';

CREATE FUNCTION emogi_degree_uuid(graph regclass, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT degree bigint, OUT strength float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_degree' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_degree_uuid(regclass, text, text) IS 'the number of edges of each vertex, and the sum of their weights';

CREATE FUNCTION emogi_closeness(graph text, samples int DEFAULT NULL, seed bigint DEFAULT 0, direction text DEFAULT 'out',
	OUT vertex bigint, OUT reached bigint, OUT farness float8, OUT closeness float8, OUT harmonic float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_closeness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_closeness(text, int, bigint, text) IS 'closeness: how near each vertex is to those that it reaches';

CREATE FUNCTION emogi_closeness_text(graph text, samples int DEFAULT NULL, seed bigint DEFAULT 0, direction text DEFAULT 'out',
	OUT vertex text, OUT reached bigint, OUT farness float8, OUT closeness float8, OUT harmonic float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_closeness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_closeness_text(text, int, bigint, text) IS 'closeness: how near each vertex is to those that it reaches';

CREATE FUNCTION emogi_closeness_uuid(graph text, samples int DEFAULT NULL, seed bigint DEFAULT 0, direction text DEFAULT 'out',
	OUT vertex uuid, OUT reached bigint, OUT farness float8, OUT closeness float8, OUT harmonic float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_closeness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_closeness_uuid(text, int, bigint, text) IS 'closeness: how near each vertex is to those that it reaches';

CREATE FUNCTION emogi_closeness(graph regclass, samples int DEFAULT NULL, seed bigint DEFAULT 0, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT reached bigint, OUT farness float8, OUT closeness float8, OUT harmonic float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_closeness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_closeness(regclass, int, bigint, text, text) IS 'closeness: how near each vertex is to those that it reaches';

CREATE FUNCTION emogi_closeness_text(graph regclass, samples int DEFAULT NULL, seed bigint DEFAULT 0, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT reached bigint, OUT farness float8, OUT closeness float8, OUT harmonic float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_closeness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_closeness_text(regclass, int, bigint, text, text) IS 'closeness: how near each vertex is to those that it reaches';

CREATE FUNCTION emogi_closeness_uuid(graph regclass, samples int DEFAULT NULL, seed bigint DEFAULT 0, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT reached bigint, OUT farness float8, OUT closeness float8, OUT harmonic float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_closeness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_closeness_uuid(regclass, int, bigint, text, text) IS 'closeness: how near each vertex is to those that it reaches';

CREATE FUNCTION emogi_betweenness(graph text, samples int DEFAULT NULL, seed bigint DEFAULT 0, normalized boolean DEFAULT true, direction text DEFAULT 'out',
	OUT vertex bigint, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_betweenness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_betweenness(text, int, bigint, boolean, text) IS 'betweenness: the share of shortest paths that pass through each vertex';

CREATE FUNCTION emogi_betweenness_text(graph text, samples int DEFAULT NULL, seed bigint DEFAULT 0, normalized boolean DEFAULT true, direction text DEFAULT 'out',
	OUT vertex text, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_betweenness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_betweenness_text(text, int, bigint, boolean, text) IS 'betweenness: the share of shortest paths that pass through each vertex';

CREATE FUNCTION emogi_betweenness_uuid(graph text, samples int DEFAULT NULL, seed bigint DEFAULT 0, normalized boolean DEFAULT true, direction text DEFAULT 'out',
	OUT vertex uuid, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_betweenness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_betweenness_uuid(text, int, bigint, boolean, text) IS 'betweenness: the share of shortest paths that pass through each vertex';

CREATE FUNCTION emogi_betweenness(graph regclass, samples int DEFAULT NULL, seed bigint DEFAULT 0, normalized boolean DEFAULT true, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_betweenness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_betweenness(regclass, int, bigint, boolean, text, text) IS 'betweenness: the share of shortest paths that pass through each vertex';

CREATE FUNCTION emogi_betweenness_text(graph regclass, samples int DEFAULT NULL, seed bigint DEFAULT 0, normalized boolean DEFAULT true, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_betweenness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_betweenness_text(regclass, int, bigint, boolean, text, text) IS 'betweenness: the share of shortest paths that pass through each vertex';

CREATE FUNCTION emogi_betweenness_uuid(graph regclass, samples int DEFAULT NULL, seed bigint DEFAULT 0, normalized boolean DEFAULT true, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_betweenness' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_betweenness_uuid(regclass, int, bigint, boolean, text, text) IS 'betweenness: the share of shortest paths that pass through each vertex';

CREATE FUNCTION emogi_topological_order(graph text,
	OUT vertex bigint, OUT level int, OUT "position" bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_topological_order' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_topological_order(text) IS 'vertices of a graph without a cycle in an order in which all edges lead forward';

CREATE FUNCTION emogi_topological_order_text(graph text,
	OUT vertex text, OUT level int, OUT "position" bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_topological_order' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_topological_order_text(text) IS 'vertices of a graph without a cycle in an order in which all edges lead forward';

CREATE FUNCTION emogi_topological_order_uuid(graph text,
	OUT vertex uuid, OUT level int, OUT "position" bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_topological_order' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_topological_order_uuid(text) IS 'vertices of a graph without a cycle in an order in which all edges lead forward';

CREATE FUNCTION emogi_topological_order(graph regclass, columns text DEFAULT NULL,
	OUT vertex bigint, OUT level int, OUT "position" bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_topological_order' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_topological_order(regclass, text) IS 'vertices of a graph without a cycle in an order in which all edges lead forward';

CREATE FUNCTION emogi_topological_order_text(graph regclass, columns text DEFAULT NULL,
	OUT vertex text, OUT level int, OUT "position" bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_topological_order' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_topological_order_text(regclass, text) IS 'vertices of a graph without a cycle in an order in which all edges lead forward';

CREATE FUNCTION emogi_topological_order_uuid(graph regclass, columns text DEFAULT NULL,
	OUT vertex uuid, OUT level int, OUT "position" bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_topological_order' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_topological_order_uuid(regclass, text) IS 'vertices of a graph without a cycle in an order in which all edges lead forward';

CREATE FUNCTION emogi_longest_path(graph text,
	OUT vertex bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_longest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_longest_path(text) IS 'the longest path to each vertex of a graph without a cycle, by weight';

CREATE FUNCTION emogi_longest_path_text(graph text,
	OUT vertex text, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_longest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_longest_path_text(text) IS 'the longest path to each vertex of a graph without a cycle, by weight';

CREATE FUNCTION emogi_longest_path_uuid(graph text,
	OUT vertex uuid, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_longest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_longest_path_uuid(text) IS 'the longest path to each vertex of a graph without a cycle, by weight';

CREATE FUNCTION emogi_longest_path(graph regclass, columns text DEFAULT NULL,
	OUT vertex bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_longest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_longest_path(regclass, text) IS 'the longest path to each vertex of a graph without a cycle, by weight';

CREATE FUNCTION emogi_longest_path_text(graph regclass, columns text DEFAULT NULL,
	OUT vertex text, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_longest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_longest_path_text(regclass, text) IS 'the longest path to each vertex of a graph without a cycle, by weight';

CREATE FUNCTION emogi_longest_path_uuid(graph regclass, columns text DEFAULT NULL,
	OUT vertex uuid, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_longest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_longest_path_uuid(regclass, text) IS 'the longest path to each vertex of a graph without a cycle, by weight';

CREATE FUNCTION emogi_similarity(graph text, measure text DEFAULT 'jaccard', top_k int DEFAULT 10, cutoff float8 DEFAULT 0, pairs text DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex1 bigint, OUT vertex2 bigint, OUT similarity float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_similarity' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_similarity(text, text, int, float8, text, text) IS 'how alike the neighbours of vertices are, of the most alike or of given pairs';

CREATE FUNCTION emogi_similarity_text(graph text, measure text DEFAULT 'jaccard', top_k int DEFAULT 10, cutoff float8 DEFAULT 0, pairs text DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex1 text, OUT vertex2 text, OUT similarity float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_similarity' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_similarity_text(text, text, int, float8, text, text) IS 'how alike the neighbours of vertices are, of the most alike or of given pairs';

CREATE FUNCTION emogi_similarity_uuid(graph text, measure text DEFAULT 'jaccard', top_k int DEFAULT 10, cutoff float8 DEFAULT 0, pairs text DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex1 uuid, OUT vertex2 uuid, OUT similarity float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_similarity' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_similarity_uuid(text, text, int, float8, text, text) IS 'how alike the neighbours of vertices are, of the most alike or of given pairs';

CREATE FUNCTION emogi_similarity(graph regclass, measure text DEFAULT 'jaccard', top_k int DEFAULT 10, cutoff float8 DEFAULT 0, pairs text DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex1 bigint, OUT vertex2 bigint, OUT similarity float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_similarity' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_similarity(regclass, text, int, float8, text, text, text) IS 'how alike the neighbours of vertices are, of the most alike or of given pairs';

CREATE FUNCTION emogi_similarity_text(graph regclass, measure text DEFAULT 'jaccard', top_k int DEFAULT 10, cutoff float8 DEFAULT 0, pairs text DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex1 text, OUT vertex2 text, OUT similarity float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_similarity' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_similarity_text(regclass, text, int, float8, text, text, text) IS 'how alike the neighbours of vertices are, of the most alike or of given pairs';

CREATE FUNCTION emogi_similarity_uuid(graph regclass, measure text DEFAULT 'jaccard', top_k int DEFAULT 10, cutoff float8 DEFAULT 0, pairs text DEFAULT NULL, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex1 uuid, OUT vertex2 uuid, OUT similarity float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_similarity' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_similarity_uuid(regclass, text, int, float8, text, text, text) IS 'how alike the neighbours of vertices are, of the most alike or of given pairs';

CREATE FUNCTION emogi_distance_matrix(graph text, sources bigint[], targets bigint[], direction text DEFAULT 'out',
	OUT source bigint, OUT target bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_distance_matrix' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_distance_matrix(text, bigint[], bigint[], text) IS 'the lengths of shortest paths from each source to each target';

CREATE FUNCTION emogi_distance_matrix(graph text, sources text[], targets text[], direction text DEFAULT 'out',
	OUT source text, OUT target text, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_distance_matrix' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_distance_matrix(text, text[], text[], text) IS 'the lengths of shortest paths from each source to each target';

CREATE FUNCTION emogi_distance_matrix(graph text, sources uuid[], targets uuid[], direction text DEFAULT 'out',
	OUT source uuid, OUT target uuid, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_distance_matrix' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_distance_matrix(text, uuid[], uuid[], text) IS 'the lengths of shortest paths from each source to each target';

CREATE FUNCTION emogi_distance_matrix(graph regclass, sources bigint[], targets bigint[], direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source bigint, OUT target bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_distance_matrix' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_distance_matrix(regclass, bigint[], bigint[], text, text) IS 'the lengths of shortest paths from each source to each target';

CREATE FUNCTION emogi_distance_matrix(graph regclass, sources text[], targets text[], direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source text, OUT target text, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_distance_matrix' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_distance_matrix(regclass, text[], text[], text, text) IS 'the lengths of shortest paths from each source to each target';

CREATE FUNCTION emogi_distance_matrix(graph regclass, sources uuid[], targets uuid[], direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source uuid, OUT target uuid, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_distance_matrix' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_distance_matrix(regclass, uuid[], uuid[], text, text) IS 'the lengths of shortest paths from each source to each target';

CREATE FUNCTION emogi_random_walk(graph text, source bigint, length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false,
	OUT walk bigint, OUT step int, OUT vertex bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(text, bigint, int, int, float8, float8, bigint, text, boolean) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph text, source bigint[], length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false,
	OUT walk bigint, OUT step int, OUT vertex bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(text, bigint[], int, int, float8, float8, bigint, text, boolean) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph text, source text, length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false,
	OUT walk bigint, OUT step int, OUT vertex text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(text, text, int, int, float8, float8, bigint, text, boolean) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph text, source text[], length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false,
	OUT walk bigint, OUT step int, OUT vertex text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(text, text[], int, int, float8, float8, bigint, text, boolean) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph text, source uuid, length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false,
	OUT walk bigint, OUT step int, OUT vertex uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(text, uuid, int, int, float8, float8, bigint, text, boolean) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph text, source uuid[], length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false,
	OUT walk bigint, OUT step int, OUT vertex uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(text, uuid[], int, int, float8, float8, bigint, text, boolean) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph regclass, source bigint, length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false, columns text DEFAULT NULL,
	OUT walk bigint, OUT step int, OUT vertex bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(regclass, bigint, int, int, float8, float8, bigint, text, boolean, text) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph regclass, source bigint[], length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false, columns text DEFAULT NULL,
	OUT walk bigint, OUT step int, OUT vertex bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(regclass, bigint[], int, int, float8, float8, bigint, text, boolean, text) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph regclass, source text, length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false, columns text DEFAULT NULL,
	OUT walk bigint, OUT step int, OUT vertex text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(regclass, text, int, int, float8, float8, bigint, text, boolean, text) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph regclass, source text[], length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false, columns text DEFAULT NULL,
	OUT walk bigint, OUT step int, OUT vertex text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(regclass, text[], int, int, float8, float8, bigint, text, boolean, text) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph regclass, source uuid, length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false, columns text DEFAULT NULL,
	OUT walk bigint, OUT step int, OUT vertex uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(regclass, uuid, int, int, float8, float8, bigint, text, boolean, text) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_random_walk(graph regclass, source uuid[], length int DEFAULT 80, walks int DEFAULT 1, p float8 DEFAULT 1, q float8 DEFAULT 1, seed bigint DEFAULT 0,
	direction text DEFAULT 'out', weights boolean DEFAULT false, columns text DEFAULT NULL,
	OUT walk bigint, OUT step int, OUT vertex uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_random_walk' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_random_walk(regclass, uuid[], int, int, float8, float8, bigint, text, boolean, text) IS 'random walks from each source, of node2vec with p and q';

CREATE FUNCTION emogi_spanning_forest(graph text, maximum boolean DEFAULT false,
	OUT src bigint, OUT dst bigint, OUT weight float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_spanning_forest' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_spanning_forest(text, boolean) IS 'a minimum or maximum spanning forest, a row for each edge';

CREATE FUNCTION emogi_spanning_forest_text(graph text, maximum boolean DEFAULT false,
	OUT src text, OUT dst text, OUT weight float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_spanning_forest' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_spanning_forest_text(text, boolean) IS 'a minimum or maximum spanning forest, a row for each edge';

CREATE FUNCTION emogi_spanning_forest_uuid(graph text, maximum boolean DEFAULT false,
	OUT src uuid, OUT dst uuid, OUT weight float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_spanning_forest' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_spanning_forest_uuid(text, boolean) IS 'a minimum or maximum spanning forest, a row for each edge';

CREATE FUNCTION emogi_spanning_forest(graph regclass, maximum boolean DEFAULT false, columns text DEFAULT NULL,
	OUT src bigint, OUT dst bigint, OUT weight float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_spanning_forest' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_spanning_forest(regclass, boolean, text) IS 'a minimum or maximum spanning forest, a row for each edge';

CREATE FUNCTION emogi_spanning_forest_text(graph regclass, maximum boolean DEFAULT false, columns text DEFAULT NULL,
	OUT src text, OUT dst text, OUT weight float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_spanning_forest' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_spanning_forest_text(regclass, boolean, text) IS 'a minimum or maximum spanning forest, a row for each edge';

CREATE FUNCTION emogi_spanning_forest_uuid(graph regclass, maximum boolean DEFAULT false, columns text DEFAULT NULL,
	OUT src uuid, OUT dst uuid, OUT weight float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_spanning_forest' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_spanning_forest_uuid(regclass, boolean, text) IS 'a minimum or maximum spanning forest, a row for each edge';

CREATE FUNCTION emogi_bridges(graph text,
	OUT src bigint, OUT dst bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bridges' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bridges(text) IS 'edges whose removal leaves more connected components';

CREATE FUNCTION emogi_bridges_text(graph text,
	OUT src text, OUT dst text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bridges' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bridges_text(text) IS 'edges whose removal leaves more connected components';

CREATE FUNCTION emogi_bridges_uuid(graph text,
	OUT src uuid, OUT dst uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bridges' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bridges_uuid(text) IS 'edges whose removal leaves more connected components';

CREATE FUNCTION emogi_bridges(graph regclass, columns text DEFAULT NULL,
	OUT src bigint, OUT dst bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bridges' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bridges(regclass, text) IS 'edges whose removal leaves more connected components';

CREATE FUNCTION emogi_bridges_text(graph regclass, columns text DEFAULT NULL,
	OUT src text, OUT dst text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bridges' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bridges_text(regclass, text) IS 'edges whose removal leaves more connected components';

CREATE FUNCTION emogi_bridges_uuid(graph regclass, columns text DEFAULT NULL,
	OUT src uuid, OUT dst uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bridges' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_bridges_uuid(regclass, text) IS 'edges whose removal leaves more connected components';

CREATE FUNCTION emogi_articulation_points(graph text,
	OUT vertex bigint, OUT components bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_articulation_points' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_articulation_points(text) IS 'vertices whose removal leaves more connected components';

CREATE FUNCTION emogi_articulation_points_text(graph text,
	OUT vertex text, OUT components bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_articulation_points' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_articulation_points_text(text) IS 'vertices whose removal leaves more connected components';

CREATE FUNCTION emogi_articulation_points_uuid(graph text,
	OUT vertex uuid, OUT components bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_articulation_points' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_articulation_points_uuid(text) IS 'vertices whose removal leaves more connected components';

CREATE FUNCTION emogi_articulation_points(graph regclass, columns text DEFAULT NULL,
	OUT vertex bigint, OUT components bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_articulation_points' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_articulation_points(regclass, text) IS 'vertices whose removal leaves more connected components';

CREATE FUNCTION emogi_articulation_points_text(graph regclass, columns text DEFAULT NULL,
	OUT vertex text, OUT components bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_articulation_points' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_articulation_points_text(regclass, text) IS 'vertices whose removal leaves more connected components';

CREATE FUNCTION emogi_articulation_points_uuid(graph regclass, columns text DEFAULT NULL,
	OUT vertex uuid, OUT components bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_articulation_points' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_articulation_points_uuid(regclass, text) IS 'vertices whose removal leaves more connected components';

CREATE FUNCTION emogi_biconnected(graph text,
	OUT component bigint, OUT vertex bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_biconnected' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_biconnected(text) IS 'biconnected components with their vertices';

CREATE FUNCTION emogi_biconnected_text(graph text,
	OUT component bigint, OUT vertex text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_biconnected' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_biconnected_text(text) IS 'biconnected components with their vertices';

CREATE FUNCTION emogi_biconnected_uuid(graph text,
	OUT component bigint, OUT vertex uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_biconnected' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_biconnected_uuid(text) IS 'biconnected components with their vertices';

CREATE FUNCTION emogi_biconnected(graph regclass, columns text DEFAULT NULL,
	OUT component bigint, OUT vertex bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_biconnected' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_biconnected(regclass, text) IS 'biconnected components with their vertices';

CREATE FUNCTION emogi_biconnected_text(graph regclass, columns text DEFAULT NULL,
	OUT component bigint, OUT vertex text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_biconnected' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_biconnected_text(regclass, text) IS 'biconnected components with their vertices';

CREATE FUNCTION emogi_biconnected_uuid(graph regclass, columns text DEFAULT NULL,
	OUT component bigint, OUT vertex uuid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_biconnected' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_biconnected_uuid(regclass, text) IS 'biconnected components with their vertices';

CREATE FUNCTION emogi_pagerank(graph text, damping float8 DEFAULT 0.85, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, start text DEFAULT NULL,
	direction text DEFAULT 'out', weights boolean DEFAULT false,
	OUT vertex bigint, OUT rank float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_pagerank' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_pagerank(text, float8, int, float8, text, text, boolean) IS 'PageRank; the ranks sum to 1';

CREATE FUNCTION emogi_pagerank_text(graph text, damping float8 DEFAULT 0.85, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, start text DEFAULT NULL,
	direction text DEFAULT 'out', weights boolean DEFAULT false,
	OUT vertex text, OUT rank float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_pagerank' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_pagerank_text(text, float8, int, float8, text, text, boolean) IS 'PageRank; the ranks sum to 1';

CREATE FUNCTION emogi_pagerank_uuid(graph text, damping float8 DEFAULT 0.85, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, start text DEFAULT NULL,
	direction text DEFAULT 'out', weights boolean DEFAULT false,
	OUT vertex uuid, OUT rank float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_pagerank' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_pagerank_uuid(text, float8, int, float8, text, text, boolean) IS 'PageRank; the ranks sum to 1';

CREATE FUNCTION emogi_pagerank(graph regclass, damping float8 DEFAULT 0.85, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, start text DEFAULT NULL,
	direction text DEFAULT 'out', weights boolean DEFAULT false, columns text DEFAULT NULL,
	OUT vertex bigint, OUT rank float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_pagerank' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_pagerank(regclass, float8, int, float8, text, text, boolean, text) IS 'PageRank; the ranks sum to 1';

CREATE FUNCTION emogi_pagerank_text(graph regclass, damping float8 DEFAULT 0.85, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, start text DEFAULT NULL,
	direction text DEFAULT 'out', weights boolean DEFAULT false, columns text DEFAULT NULL,
	OUT vertex text, OUT rank float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_pagerank' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_pagerank_text(regclass, float8, int, float8, text, text, boolean, text) IS 'PageRank; the ranks sum to 1';

CREATE FUNCTION emogi_pagerank_uuid(graph regclass, damping float8 DEFAULT 0.85, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, start text DEFAULT NULL,
	direction text DEFAULT 'out', weights boolean DEFAULT false, columns text DEFAULT NULL,
	OUT vertex uuid, OUT rank float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_pagerank' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_pagerank_uuid(regclass, float8, int, float8, text, text, boolean, text) IS 'PageRank; the ranks sum to 1';

CREATE FUNCTION emogi_eigenvector(graph text, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, weights boolean DEFAULT false, direction text DEFAULT 'out',
	OUT vertex bigint, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_eigenvector' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_eigenvector(text, int, float8, boolean, text) IS 'eigenvector centrality: a vertex counts as much as those that point to it together';

CREATE FUNCTION emogi_eigenvector_text(graph text, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, weights boolean DEFAULT false, direction text DEFAULT 'out',
	OUT vertex text, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_eigenvector' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_eigenvector_text(text, int, float8, boolean, text) IS 'eigenvector centrality: a vertex counts as much as those that point to it together';

CREATE FUNCTION emogi_eigenvector_uuid(graph text, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, weights boolean DEFAULT false, direction text DEFAULT 'out',
	OUT vertex uuid, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_eigenvector' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_eigenvector_uuid(text, int, float8, boolean, text) IS 'eigenvector centrality: a vertex counts as much as those that point to it together';

CREATE FUNCTION emogi_eigenvector(graph regclass, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, weights boolean DEFAULT false, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_eigenvector' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_eigenvector(regclass, int, float8, boolean, text, text) IS 'eigenvector centrality: a vertex counts as much as those that point to it together';

CREATE FUNCTION emogi_eigenvector_text(graph regclass, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, weights boolean DEFAULT false, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_eigenvector' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_eigenvector_text(regclass, int, float8, boolean, text, text) IS 'eigenvector centrality: a vertex counts as much as those that point to it together';

CREATE FUNCTION emogi_eigenvector_uuid(graph regclass, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6, weights boolean DEFAULT false, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_eigenvector' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_eigenvector_uuid(regclass, int, float8, boolean, text, text) IS 'eigenvector centrality: a vertex counts as much as those that point to it together';

CREATE FUNCTION emogi_katz(graph text, alpha float8 DEFAULT 0.1, beta float8 DEFAULT 1, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, normalized boolean DEFAULT true,
	weights boolean DEFAULT false, direction text DEFAULT 'out',
	OUT vertex bigint, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_katz' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_katz(text, float8, float8, int, float8, boolean, boolean, text) IS 'Katz centrality: walks that end at each vertex, the longer the less';

CREATE FUNCTION emogi_katz_text(graph text, alpha float8 DEFAULT 0.1, beta float8 DEFAULT 1, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, normalized boolean DEFAULT true,
	weights boolean DEFAULT false, direction text DEFAULT 'out',
	OUT vertex text, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_katz' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_katz_text(text, float8, float8, int, float8, boolean, boolean, text) IS 'Katz centrality: walks that end at each vertex, the longer the less';

CREATE FUNCTION emogi_katz_uuid(graph text, alpha float8 DEFAULT 0.1, beta float8 DEFAULT 1, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, normalized boolean DEFAULT true,
	weights boolean DEFAULT false, direction text DEFAULT 'out',
	OUT vertex uuid, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_katz' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_katz_uuid(text, float8, float8, int, float8, boolean, boolean, text) IS 'Katz centrality: walks that end at each vertex, the longer the less';

CREATE FUNCTION emogi_katz(graph regclass, alpha float8 DEFAULT 0.1, beta float8 DEFAULT 1, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, normalized boolean DEFAULT true,
	weights boolean DEFAULT false, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_katz' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_katz(regclass, float8, float8, int, float8, boolean, boolean, text, text) IS 'Katz centrality: walks that end at each vertex, the longer the less';

CREATE FUNCTION emogi_katz_text(graph regclass, alpha float8 DEFAULT 0.1, beta float8 DEFAULT 1, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, normalized boolean DEFAULT true,
	weights boolean DEFAULT false, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_katz' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_katz_text(regclass, float8, float8, int, float8, boolean, boolean, text, text) IS 'Katz centrality: walks that end at each vertex, the longer the less';

CREATE FUNCTION emogi_katz_uuid(graph regclass, alpha float8 DEFAULT 0.1, beta float8 DEFAULT 1, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, normalized boolean DEFAULT true,
	weights boolean DEFAULT false, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT centrality float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_katz' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_katz_uuid(regclass, float8, float8, int, float8, boolean, boolean, text, text) IS 'Katz centrality: walks that end at each vertex, the longer the less';

CREATE FUNCTION emogi_hits(graph text, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-8, weights boolean DEFAULT false, direction text DEFAULT 'out',
	OUT vertex bigint, OUT hub float8, OUT authority float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_hits' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_hits(text, int, float8, boolean, text) IS 'hubs and authorities (HITS); each sum to 1';

CREATE FUNCTION emogi_hits_text(graph text, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-8, weights boolean DEFAULT false, direction text DEFAULT 'out',
	OUT vertex text, OUT hub float8, OUT authority float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_hits' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_hits_text(text, int, float8, boolean, text) IS 'hubs and authorities (HITS); each sum to 1';

CREATE FUNCTION emogi_hits_uuid(graph text, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-8, weights boolean DEFAULT false, direction text DEFAULT 'out',
	OUT vertex uuid, OUT hub float8, OUT authority float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_hits' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_hits_uuid(text, int, float8, boolean, text) IS 'hubs and authorities (HITS); each sum to 1';

CREATE FUNCTION emogi_hits(graph regclass, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-8, weights boolean DEFAULT false, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT hub float8, OUT authority float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_hits' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_hits(regclass, int, float8, boolean, text, text) IS 'hubs and authorities (HITS); each sum to 1';

CREATE FUNCTION emogi_hits_text(graph regclass, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-8, weights boolean DEFAULT false, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT hub float8, OUT authority float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_hits' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_hits_text(regclass, int, float8, boolean, text, text) IS 'hubs and authorities (HITS); each sum to 1';

CREATE FUNCTION emogi_hits_uuid(graph regclass, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-8, weights boolean DEFAULT false, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT hub float8, OUT authority float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_hits' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_hits_uuid(regclass, int, float8, boolean, text, text) IS 'hubs and authorities (HITS); each sum to 1';

CREATE FUNCTION emogi_heat(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both',
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_heat' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_heat(text, text, int, float8, text) IS 'temperatures after heat has flowed along the edges';

CREATE FUNCTION emogi_heat_text(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both',
	OUT vertex text, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_heat' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_heat_text(text, text, int, float8, text) IS 'temperatures after heat has flowed along the edges';

CREATE FUNCTION emogi_heat_uuid(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both',
	OUT vertex uuid, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_heat' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_heat_uuid(text, text, int, float8, text) IS 'temperatures after heat has flowed along the edges';

CREATE FUNCTION emogi_heat(graph regclass, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_heat' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_heat(regclass, text, int, float8, text, text) IS 'temperatures after heat has flowed along the edges';

CREATE FUNCTION emogi_heat_text(graph regclass, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex text, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_heat' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_heat_text(regclass, text, int, float8, text, text) IS 'temperatures after heat has flowed along the edges';

CREATE FUNCTION emogi_heat_uuid(graph regclass, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex uuid, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_heat' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_heat_uuid(regclass, text, int, float8, text, text) IS 'temperatures after heat has flowed along the edges';

CREATE FUNCTION emogi_circuit(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both',
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_circuit' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_circuit(text, text, int, float8, text) IS 'voltages in a network of conductances with fixed poles';

CREATE FUNCTION emogi_circuit_text(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both',
	OUT vertex text, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_circuit' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_circuit_text(text, text, int, float8, text) IS 'voltages in a network of conductances with fixed poles';

CREATE FUNCTION emogi_circuit_uuid(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both',
	OUT vertex uuid, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_circuit' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_circuit_uuid(text, text, int, float8, text) IS 'voltages in a network of conductances with fixed poles';

CREATE FUNCTION emogi_circuit(graph regclass, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_circuit' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_circuit(regclass, text, int, float8, text, text) IS 'voltages in a network of conductances with fixed poles';

CREATE FUNCTION emogi_circuit_text(graph regclass, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex text, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_circuit' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_circuit_text(regclass, text, int, float8, text, text) IS 'voltages in a network of conductances with fixed poles';

CREATE FUNCTION emogi_circuit_uuid(graph regclass, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both', columns text DEFAULT NULL,
	OUT vertex uuid, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_circuit' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_circuit_uuid(regclass, text, int, float8, text, text) IS 'voltages in a network of conductances with fixed poles';

CREATE FUNCTION emogi_neural(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'out',
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_neural' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_neural(text, text, int, float8, text) IS 'activations of a recurrent network of tanh neurons';

CREATE FUNCTION emogi_neural_text(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'out',
	OUT vertex text, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_neural' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_neural_text(text, text, int, float8, text) IS 'activations of a recurrent network of tanh neurons';

CREATE FUNCTION emogi_neural_uuid(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'out',
	OUT vertex uuid, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_neural' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_neural_uuid(text, text, int, float8, text) IS 'activations of a recurrent network of tanh neurons';

CREATE FUNCTION emogi_neural(graph regclass, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_neural' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_neural(regclass, text, int, float8, text, text) IS 'activations of a recurrent network of tanh neurons';

CREATE FUNCTION emogi_neural_text(graph regclass, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex text, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_neural' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_neural_text(regclass, text, int, float8, text, text) IS 'activations of a recurrent network of tanh neurons';

CREATE FUNCTION emogi_neural_uuid(graph regclass, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT vertex uuid, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_neural' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_neural_uuid(regclass, text, int, float8, text, text) IS 'activations of a recurrent network of tanh neurons';

CREATE FUNCTION emogi_shortest_path(graph text, source bigint, target bigint, direction text DEFAULT 'out',
	OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path(text, bigint, bigint, text) IS 'the vertices of one shortest path, from source to target';

CREATE FUNCTION emogi_shortest_path(graph text, source text, target text, direction text DEFAULT 'out',
	OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path(text, text, text, text) IS 'the vertices of one shortest path, from source to target';

CREATE FUNCTION emogi_shortest_path(graph text, source uuid, target uuid, direction text DEFAULT 'out',
	OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path(text, uuid, uuid, text) IS 'the vertices of one shortest path, from source to target';

CREATE FUNCTION emogi_shortest_path(graph regclass, source bigint, target bigint, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path(regclass, bigint, bigint, text, text) IS 'the vertices of one shortest path, from source to target';

CREATE FUNCTION emogi_shortest_path(graph regclass, source text, target text, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path(regclass, text, text, text, text) IS 'the vertices of one shortest path, from source to target';

CREATE FUNCTION emogi_shortest_path(graph regclass, source uuid, target uuid, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_path(regclass, uuid, uuid, text, text) IS 'the vertices of one shortest path, from source to target';

CREATE FUNCTION emogi_shortest_paths(graph text, sources bigint[], targets bigint[], direction text DEFAULT 'out',
	OUT source bigint, OUT target bigint, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths(text, bigint[], bigint[], text) IS 'the vertices of one shortest path from each source to each target';

CREATE FUNCTION emogi_shortest_paths(graph text, sources text[], targets text[], direction text DEFAULT 'out',
	OUT source text, OUT target text, OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths(text, text[], text[], text) IS 'the vertices of one shortest path from each source to each target';

CREATE FUNCTION emogi_shortest_paths(graph text, sources uuid[], targets uuid[], direction text DEFAULT 'out',
	OUT source uuid, OUT target uuid, OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths(text, uuid[], uuid[], text) IS 'the vertices of one shortest path from each source to each target';

CREATE FUNCTION emogi_shortest_paths(graph regclass, sources bigint[], targets bigint[], direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source bigint, OUT target bigint, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths(regclass, bigint[], bigint[], text, text) IS 'the vertices of one shortest path from each source to each target';

CREATE FUNCTION emogi_shortest_paths(graph regclass, sources text[], targets text[], direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source text, OUT target text, OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths(regclass, text[], text[], text, text) IS 'the vertices of one shortest path from each source to each target';

CREATE FUNCTION emogi_shortest_paths(graph regclass, sources uuid[], targets uuid[], direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source uuid, OUT target uuid, OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths(regclass, uuid[], uuid[], text, text) IS 'the vertices of one shortest path from each source to each target';

CREATE FUNCTION emogi_shortest_paths(graph text, pairs text, direction text DEFAULT 'out',
	OUT source bigint, OUT target bigint, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths(text, text, text) IS 'the vertices of one shortest path for each pair of a query';

CREATE FUNCTION emogi_shortest_paths_text(graph text, pairs text, direction text DEFAULT 'out',
	OUT source text, OUT target text, OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths_text(text, text, text) IS 'the vertices of one shortest path for each pair of a query';

CREATE FUNCTION emogi_shortest_paths_uuid(graph text, pairs text, direction text DEFAULT 'out',
	OUT source uuid, OUT target uuid, OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths_uuid(text, text, text) IS 'the vertices of one shortest path for each pair of a query';

CREATE FUNCTION emogi_shortest_paths(graph regclass, pairs text, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source bigint, OUT target bigint, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths(regclass, text, text, text) IS 'the vertices of one shortest path for each pair of a query';

CREATE FUNCTION emogi_shortest_paths_text(graph regclass, pairs text, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source text, OUT target text, OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths_text(regclass, text, text, text) IS 'the vertices of one shortest path for each pair of a query';

CREATE FUNCTION emogi_shortest_paths_uuid(graph regclass, pairs text, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source uuid, OUT target uuid, OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000 SUPPORT _emogi_support;
COMMENT ON FUNCTION emogi_shortest_paths_uuid(regclass, text, text, text) IS 'the vertices of one shortest path for each pair of a query';

CREATE FUNCTION emogi_k_shortest_paths(graph text, source bigint, target bigint, k int DEFAULT 3, direction text DEFAULT 'out',
	OUT path_id int, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_k_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_k_shortest_paths(text, bigint, bigint, int, text) IS 'the vertices of the k shortest paths without a repeated vertex, from source to target';

CREATE FUNCTION emogi_k_shortest_paths(graph text, source text, target text, k int DEFAULT 3, direction text DEFAULT 'out',
	OUT path_id int, OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_k_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_k_shortest_paths(text, text, text, int, text) IS 'the vertices of the k shortest paths without a repeated vertex, from source to target';

CREATE FUNCTION emogi_k_shortest_paths(graph text, source uuid, target uuid, k int DEFAULT 3, direction text DEFAULT 'out',
	OUT path_id int, OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_k_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_k_shortest_paths(text, uuid, uuid, int, text) IS 'the vertices of the k shortest paths without a repeated vertex, from source to target';

CREATE FUNCTION emogi_k_shortest_paths(graph regclass, source bigint, target bigint, k int DEFAULT 3, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT path_id int, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_k_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_k_shortest_paths(regclass, bigint, bigint, int, text, text) IS 'the vertices of the k shortest paths without a repeated vertex, from source to target';

CREATE FUNCTION emogi_k_shortest_paths(graph regclass, source text, target text, k int DEFAULT 3, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT path_id int, OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_k_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_k_shortest_paths(regclass, text, text, int, text, text) IS 'the vertices of the k shortest paths without a repeated vertex, from source to target';

CREATE FUNCTION emogi_k_shortest_paths(graph regclass, source uuid, target uuid, k int DEFAULT 3, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT path_id int, OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_k_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_k_shortest_paths(regclass, uuid, uuid, int, text, text) IS 'the vertices of the k shortest paths without a repeated vertex, from source to target';

CREATE FUNCTION emogi_all_shortest_paths(graph text, source bigint, target bigint, max_paths int DEFAULT 1000, direction text DEFAULT 'out',
	OUT path_id int, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_all_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_all_shortest_paths(text, bigint, bigint, int, text) IS 'the vertices of all paths of the least distance, from source to target';

CREATE FUNCTION emogi_all_shortest_paths(graph text, source text, target text, max_paths int DEFAULT 1000, direction text DEFAULT 'out',
	OUT path_id int, OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_all_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_all_shortest_paths(text, text, text, int, text) IS 'the vertices of all paths of the least distance, from source to target';

CREATE FUNCTION emogi_all_shortest_paths(graph text, source uuid, target uuid, max_paths int DEFAULT 1000, direction text DEFAULT 'out',
	OUT path_id int, OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_all_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_all_shortest_paths(text, uuid, uuid, int, text) IS 'the vertices of all paths of the least distance, from source to target';

CREATE FUNCTION emogi_all_shortest_paths(graph regclass, source bigint, target bigint, max_paths int DEFAULT 1000, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT path_id int, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_all_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_all_shortest_paths(regclass, bigint, bigint, int, text, text) IS 'the vertices of all paths of the least distance, from source to target';

CREATE FUNCTION emogi_all_shortest_paths(graph regclass, source text, target text, max_paths int DEFAULT 1000, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT path_id int, OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_all_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_all_shortest_paths(regclass, text, text, int, text, text) IS 'the vertices of all paths of the least distance, from source to target';

CREATE FUNCTION emogi_all_shortest_paths(graph regclass, source uuid, target uuid, max_paths int DEFAULT 1000, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT path_id int, OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_all_shortest_paths' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_all_shortest_paths(regclass, uuid, uuid, int, text, text) IS 'the vertices of all paths of the least distance, from source to target';

CREATE FUNCTION emogi_cycles(graph text, source bigint, max_length int DEFAULT 6, max_cycles int DEFAULT 1000, direction text DEFAULT 'out',
	OUT cycle_id int, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cycles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_cycles(text, bigint, int, int, text) IS 'the vertices of the simple cycles through a vertex, the shortest first';

CREATE FUNCTION emogi_cycles(graph text, source text, max_length int DEFAULT 6, max_cycles int DEFAULT 1000, direction text DEFAULT 'out',
	OUT cycle_id int, OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cycles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_cycles(text, text, int, int, text) IS 'the vertices of the simple cycles through a vertex, the shortest first';

CREATE FUNCTION emogi_cycles(graph text, source uuid, max_length int DEFAULT 6, max_cycles int DEFAULT 1000, direction text DEFAULT 'out',
	OUT cycle_id int, OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cycles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_cycles(text, uuid, int, int, text) IS 'the vertices of the simple cycles through a vertex, the shortest first';

CREATE FUNCTION emogi_cycles(graph regclass, source bigint, max_length int DEFAULT 6, max_cycles int DEFAULT 1000, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT cycle_id int, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cycles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_cycles(regclass, bigint, int, int, text, text) IS 'the vertices of the simple cycles through a vertex, the shortest first';

CREATE FUNCTION emogi_cycles(graph regclass, source text, max_length int DEFAULT 6, max_cycles int DEFAULT 1000, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT cycle_id int, OUT seq int, OUT vertex text, OUT edge text, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cycles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_cycles(regclass, text, int, int, text, text) IS 'the vertices of the simple cycles through a vertex, the shortest first';

CREATE FUNCTION emogi_cycles(graph regclass, source uuid, max_length int DEFAULT 6, max_cycles int DEFAULT 1000, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT cycle_id int, OUT seq int, OUT vertex uuid, OUT edge uuid, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cycles' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 1000;
COMMENT ON FUNCTION emogi_cycles(regclass, uuid, int, int, text, text) IS 'the vertices of the simple cycles through a vertex, the shortest first';

CREATE FUNCTION emogi_reachable(graph text, pairs text, direction text DEFAULT 'out',
	OUT source bigint, OUT target bigint, OUT reachable boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_reachable' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10000;
COMMENT ON FUNCTION emogi_reachable(text, text, text) IS 'whether a way leads from the one to the other, for each pair of a query';

CREATE FUNCTION emogi_reachable_text(graph text, pairs text, direction text DEFAULT 'out',
	OUT source text, OUT target text, OUT reachable boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_reachable' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10000;
COMMENT ON FUNCTION emogi_reachable_text(text, text, text) IS 'whether a way leads from the one to the other, for each pair of a query';

CREATE FUNCTION emogi_reachable_uuid(graph text, pairs text, direction text DEFAULT 'out',
	OUT source uuid, OUT target uuid, OUT reachable boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_reachable' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10000;
COMMENT ON FUNCTION emogi_reachable_uuid(text, text, text) IS 'whether a way leads from the one to the other, for each pair of a query';

CREATE FUNCTION emogi_reachable(graph regclass, pairs text, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source bigint, OUT target bigint, OUT reachable boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_reachable' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10000;
COMMENT ON FUNCTION emogi_reachable(regclass, text, text, text) IS 'whether a way leads from the one to the other, for each pair of a query';

CREATE FUNCTION emogi_reachable_text(graph regclass, pairs text, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source text, OUT target text, OUT reachable boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_reachable' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10000;
COMMENT ON FUNCTION emogi_reachable_text(regclass, text, text, text) IS 'whether a way leads from the one to the other, for each pair of a query';

CREATE FUNCTION emogi_reachable_uuid(graph regclass, pairs text, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT source uuid, OUT target uuid, OUT reachable boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_reachable' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 10000;
COMMENT ON FUNCTION emogi_reachable_uuid(regclass, text, text, text) IS 'whether a way leads from the one to the other, for each pair of a query';

-- Forms that take arrays where a function takes none, and raise an error with the call that was meant.

CREATE FUNCTION emogi_shortest_path(graph text, source anycompatiblearray, target anycompatiblearray, direction text DEFAULT 'out',
	OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_refuse_array' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION emogi_shortest_path(text, anycompatiblearray, anycompatiblearray, text) IS 'no function: use emogi_shortest_paths';

CREATE FUNCTION emogi_shortest_paths(graph text, pairs anyarray,
	OUT source bigint, OUT target bigint, OUT seq int, OUT vertex bigint, OUT edge bigint, OUT cost float8, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_refuse_array' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION emogi_shortest_paths(text, anyarray) IS 'no function: pairs are a query';

CREATE FUNCTION emogi_reachable(graph text, pairs anyarray, direction text DEFAULT 'out',
	OUT source bigint, OUT target bigint, OUT reachable boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_refuse_array' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION emogi_reachable(text, anyarray, text) IS 'no function: pairs are a query';

CREATE FUNCTION emogi_distance_matrix(graph text, sources anyarray,
	OUT source bigint, OUT target bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_refuse_array' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION emogi_distance_matrix(text, anyarray) IS 'no function: targets are missing';

CREATE FUNCTION emogi_heat(graph text, start anyarray, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both',
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_refuse_array' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION emogi_heat(text, anyarray, int, float8, text) IS 'no function: start values are a query';

CREATE FUNCTION emogi_circuit(graph text, start anyarray, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both',
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_refuse_array' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION emogi_circuit(text, anyarray, int, float8, text) IS 'no function: start values are a query';

CREATE FUNCTION emogi_neural(graph text, start anyarray, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'out',
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_refuse_array' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION emogi_neural(text, anyarray, int, float8, text) IS 'no function: start values are a query';

-- What a graph would take, and the cache of graphs.

CREATE FUNCTION emogi_estimate(graph text, weights boolean DEFAULT false, direction text DEFAULT 'out',
	OUT edges bigint, OUT vertices bigint, OUT graph_bytes bigint, OUT peak_bytes bigint, OUT allowed_bytes bigint, OUT fits boolean)
AS 'MODULE_PATHNAME', 'emogi_estimate' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION emogi_estimate(text, boolean, text) IS 'size of a graph in shared memory (bytes), after its build and at the peak of it, estimated from statistics';

CREATE FUNCTION emogi_estimate(graph regclass, weights boolean DEFAULT false, direction text DEFAULT 'out', columns text DEFAULT NULL,
	OUT edges bigint, OUT vertices bigint, OUT graph_bytes bigint, OUT peak_bytes bigint, OUT allowed_bytes bigint, OUT fits boolean)
AS 'MODULE_PATHNAME', 'emogi_estimate' LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;
COMMENT ON FUNCTION emogi_estimate(regclass, boolean, text, text) IS 'size of a graph in shared memory (bytes), after its build and at the peak of it, estimated from statistics';

CREATE FUNCTION emogi_pages(relation regclass, columns text[], first_page bigint, npages bigint) RETURNS SETOF bytea
AS 'MODULE_PATHNAME', 'emogi_pages' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 100;
COMMENT ON FUNCTION emogi_pages(regclass, text[], bigint, bigint) IS 'rows of numbers on some pages of a table, packed, for an emogi on another server that reads this one';

CREATE FUNCTION emogi_stamp(relation regclass, columns text[]) RETURNS bytea
AS 'MODULE_PATHNAME', 'emogi_stamp' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100;
COMMENT ON FUNCTION emogi_stamp(regclass, text[]) IS 'what tells the rows of a table from those that it has at other times, for an emogi on another server that keeps a graph of them';

CREATE FUNCTION emogi_check(graph text, direction text DEFAULT 'out', weights boolean DEFAULT false, backward boolean DEFAULT false,
	near boolean DEFAULT false, OUT ok boolean, OUT differs text, OUT cache text, OUT vertices bigint, OUT edges bigint, OUT has_weights boolean, OUT has_backward boolean)
AS 'MODULE_PATHNAME', 'emogi_check' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION emogi_check(text, text, boolean, boolean, boolean) IS 'whether the graph that a call would use is what its source holds: it is built again and compared';

CREATE FUNCTION emogi_check(graph regclass, direction text DEFAULT 'out', weights boolean DEFAULT false, backward boolean DEFAULT false,
	near boolean DEFAULT false, columns text DEFAULT NULL,
	OUT ok boolean, OUT differs text, OUT cache text, OUT vertices bigint, OUT edges bigint, OUT has_weights boolean, OUT has_backward boolean)
AS 'MODULE_PATHNAME', 'emogi_check' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION emogi_check(regclass, text, boolean, boolean, boolean, text) IS 'whether the graph that a call would use is what its source holds: it is built again and compared';

CREATE FUNCTION emogi_prewarm(graph text, direction text DEFAULT 'out', weights boolean DEFAULT false, backward boolean DEFAULT false,
	keep boolean DEFAULT NULL, OUT cache text, OUT vertices bigint, OUT edges bigint, OUT bytes bigint, OUT kept boolean)
AS 'MODULE_PATHNAME', 'emogi_prewarm' LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION emogi_prewarm(text, text, boolean, boolean, boolean) IS 'have the graph of a table stand in the cache, for all sessions; keep: do not evict it to make room';

CREATE FUNCTION emogi_prewarm(graph regclass, direction text DEFAULT 'out', weights boolean DEFAULT false, backward boolean DEFAULT false,
	keep boolean DEFAULT NULL, columns text DEFAULT NULL,
	OUT cache text, OUT vertices bigint, OUT edges bigint, OUT bytes bigint, OUT kept boolean)
AS 'MODULE_PATHNAME', 'emogi_prewarm' LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION emogi_prewarm(regclass, text, boolean, boolean, boolean, text) IS 'have the graph of a table stand in the cache, for all sessions; keep: do not evict it to make room';

CREATE FUNCTION emogi_evict(graph text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'emogi_evict' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION emogi_evict(text) IS 'drop the cached graphs of a table, view or query, or of all that are the caller''s in this database; bytes given back';

CREATE FUNCTION emogi_evict(graph regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'emogi_evict' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION emogi_evict(regclass) IS 'drop the cached graphs of a table or view; bytes given back';

CREATE FUNCTION emogi_reset() RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION emogi_reset() FROM PUBLIC;
COMMENT ON FUNCTION emogi_reset() IS 'empty emogi_runs and set the counters of emogi_cache to 0';

CREATE FUNCTION emogi_stat_reset() RETURNS void
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION emogi_stat_reset() FROM PUBLIC;
COMMENT ON FUNCTION emogi_stat_reset() IS 'empty emogi_stat_graphs';

-- Views. Everyone may select them: each shows a caller only what is that caller's to know.

CREATE FUNCTION emogi_devices(OUT device int, OUT engine text, OUT name text, OUT units int, OUT memory_bytes bigint,
	OUT used_bytes bigint, OUT link_gbps float8, OUT driver text, OUT state text, OUT reason text, OUT pid int)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2;
COMMENT ON FUNCTION emogi_devices() IS 'the rows of the view emogi_devices';
CREATE VIEW emogi_devices AS SELECT * FROM emogi_devices();
GRANT SELECT ON emogi_devices TO PUBLIC;
COMMENT ON VIEW emogi_devices IS 'the processor and each GPU that emogi can compute on, or why there is none';
COMMENT ON COLUMN emogi_devices.device IS 'number of the GPU, -1 for the processor, NULL where there is no GPU';
COMMENT ON COLUMN emogi_devices.engine IS 'cpu or cuda';
COMMENT ON COLUMN emogi_devices.name IS 'of the processor or GPU';
COMMENT ON COLUMN emogi_devices.units IS 'threads of the engine worker, or multiprocessors';
COMMENT ON COLUMN emogi_devices.memory_bytes IS 'bytes: of the processor, the budget of all graphs and results (emogi.max_memory); of a GPU, its memory';
COMMENT ON COLUMN emogi_devices.used_bytes IS 'bytes: of the processor, how much of that budget is in use now; of a GPU, what emogi keeps on it for cached graphs';
COMMENT ON COLUMN emogi_devices.link_gbps IS 'measured copy from pinned memory to the GPU, 10^9 bytes per second';
COMMENT ON COLUMN emogi_devices.driver IS 'versions of driver and CUDA runtime';
COMMENT ON COLUMN emogi_devices.state IS 'ready, starting, absent or failed';
COMMENT ON COLUMN emogi_devices.reason IS 'why the device cannot be used';
COMMENT ON COLUMN emogi_devices.pid IS 'process id of the engine worker';

CREATE FUNCTION emogi_graphs(OUT source text, OUT database text, OUT relation oid, OUT columns text,
	OUT direction text, OUT backward boolean, OUT state text, OUT vertices bigint, OUT edges bigint,
	OUT skipped_rows bigint, OUT bytes bigint, OUT key_bytes bigint, OUT live_bytes bigint, OUT on_device boolean, OUT hierarchy text, OUT pins int, OUT kept boolean, OUT hits bigint,
	OUT built_at timestamptz, OUT last_used timestamptz, OUT build_ms float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION emogi_graphs() IS 'the rows of the view emogi_graphs';
CREATE VIEW emogi_graphs AS SELECT * FROM emogi_graphs();
GRANT SELECT ON emogi_graphs TO PUBLIC;
COMMENT ON VIEW emogi_graphs IS 'graphs in shared memory, of this database: of tables that the caller may select, and of queries and views that the caller has built; for members of pg_read_all_stats all of all databases';
COMMENT ON COLUMN emogi_graphs.source IS 'the table, as the search path names it, or the text of the query; NULL when it is of another database or gone';
COMMENT ON COLUMN emogi_graphs.database IS 'database of the table or query';
COMMENT ON COLUMN emogi_graphs.relation IS 'object id of the table or view; 0: a query';
COMMENT ON COLUMN emogi_graphs.columns IS 'the columns read: source, target and, where there is one, weight; NULL when they are of a query or view, of another database or gone';
COMMENT ON COLUMN emogi_graphs.direction IS 'which way the lists lead: out, in or both';
COMMENT ON COLUMN emogi_graphs.backward IS 'whether the graph can be read against its direction too, as some functions need';
COMMENT ON COLUMN emogi_graphs.state IS 'building, ready or evicting';
COMMENT ON COLUMN emogi_graphs.vertices IS 'number of vertices; NULL while building';
COMMENT ON COLUMN emogi_graphs.edges IS 'number of list entries one way; both counts every edge twice; NULL while building';
COMMENT ON COLUMN emogi_graphs.skipped_rows IS 'number of rows left out for a NULL end; NULL while building';
COMMENT ON COLUMN emogi_graphs.bytes IS 'bytes of shared memory';
COMMENT ON COLUMN emogi_graphs.key_bytes IS 'bytes of shared memory beside that for the keys of vertices that are no integers; graphs made of each other have them in common';
COMMENT ON COLUMN emogi_graphs.live_bytes IS 'bytes of shared memory beside that, by which the graph follows its table; all graphs of the table and columns have them in common; 0: it does not';
COMMENT ON COLUMN emogi_graphs.on_device IS 'whether a GPU may keep a copy';
COMMENT ON COLUMN emogi_graphs.hierarchy IS 'of the contraction hierarchy for far paths: ready, or making; NULL: there is none';
COMMENT ON COLUMN emogi_graphs.pins IS 'number of calls that use it now';
COMMENT ON COLUMN emogi_graphs.kept IS 'whether it is not evicted to make room: emogi_prewarm(..., keep => true)';
COMMENT ON COLUMN emogi_graphs.hits IS 'number of calls that found it here';
COMMENT ON COLUMN emogi_graphs.built_at IS 'when it became ready; NULL while building';
COMMENT ON COLUMN emogi_graphs.last_used IS 'when a call last used it; NULL while building';
COMMENT ON COLUMN emogi_graphs.build_ms IS 'milliseconds that its build took; NULL while building';

CREATE FUNCTION emogi_cache(OUT graphs int, OUT tables int, OUT bytes bigint, OUT key_bytes bigint, OUT live_bytes bigint, OUT allowed_bytes bigint,
	OUT hits bigint, OUT builds bigint, OUT splices bigint, OUT patches bigint, OUT private_builds bigint, OUT waits bigint, OUT evictions bigint, OUT drops bigint,
	OUT reset_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 1;
COMMENT ON FUNCTION emogi_cache() IS 'the rows of the view emogi_cache';
CREATE VIEW emogi_cache AS SELECT * FROM emogi_cache();
GRANT SELECT ON emogi_cache TO PUBLIC;
COMMENT ON VIEW emogi_cache IS 'the cache of graphs as a whole; counters since emogi_reset(), or the start of the server';
COMMENT ON COLUMN emogi_cache.graphs IS 'number of graphs that are ready';
COMMENT ON COLUMN emogi_cache.tables IS 'number of tables whose writers are noted for their sake';
COMMENT ON COLUMN emogi_cache.bytes IS 'bytes of shared memory of all cached graphs, those about to go included';
COMMENT ON COLUMN emogi_cache.key_bytes IS 'bytes of shared memory for keys of vertices that are no integers, of all graphs';
COMMENT ON COLUMN emogi_cache.live_bytes IS 'bytes of shared memory by which graphs follow their tables';
COMMENT ON COLUMN emogi_cache.allowed_bytes IS 'bytes that all graphs and results together may take: emogi.max_memory';
COMMENT ON COLUMN emogi_cache.hits IS 'number of calls that found their graph';
COMMENT ON COLUMN emogi_cache.builds IS 'number of graphs built and kept for others';
COMMENT ON COLUMN emogi_cache.splices IS 'number of graphs made of an older one and the changes since, and kept for others';
COMMENT ON COLUMN emogi_cache.patches IS 'number of calls that were given an older graph and the changes since, and needed no new one';
COMMENT ON COLUMN emogi_cache.private_builds IS 'number of graphs built for one call';
COMMENT ON COLUMN emogi_cache.waits IS 'number of calls that waited for the build of another';
COMMENT ON COLUMN emogi_cache.evictions IS 'number of graphs dropped to make room';
COMMENT ON COLUMN emogi_cache.drops IS 'number of graphs dropped because no call could use them any more, or another does as well';
COMMENT ON COLUMN emogi_cache.reset_at IS 'when the counters began';

CREATE FUNCTION emogi_runs(OUT id bigint, OUT started timestamptz, OUT pid int, OUT username name, OUT database name,
	OUT function text, OUT source text, OUT status text, OUT cache text, OUT why_private text, OUT engine text, OUT device int, OUT placement text,
	OUT mapping text, OUT reason text, OUT wait_ms float8, OUT refresh_ms float8, OUT scan_ms float8,
	OUT keys_ms float8, OUT csr_ms float8, OUT splice_ms float8, OUT transfer_ms float8, OUT run_ms float8,
	OUT rows_ms float8, OUT total_ms float8, OUT pages_looked bigint, OUT pages_by_map bigint, OUT pages_by_lsn bigint,
	OUT changes bigint, OUT age_ms float8, OUT vertices bigint, OUT edges bigint, OUT reached bigint, OUT levels int,
	OUT edges_traversed bigint, OUT edges_per_second float8, OUT link_bytes bigint, OUT links int, OUT rows bigint,
	OUT network_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION emogi_runs() IS 'the rows of the view emogi_runs';
CREATE VIEW emogi_runs AS SELECT * FROM emogi_runs();
GRANT SELECT ON emogi_runs TO PUBLIC;
COMMENT ON VIEW emogi_runs IS 'the last runs, emogi.run_entries of them, of roles whose rights the caller has; for members of pg_read_all_stats all';
COMMENT ON COLUMN emogi_runs.id IS 'number of the run, ascending';
COMMENT ON COLUMN emogi_runs.started IS 'when the call began';
COMMENT ON COLUMN emogi_runs.pid IS 'process id of the session';
COMMENT ON COLUMN emogi_runs.username IS 'role of the caller';
COMMENT ON COLUMN emogi_runs.database IS 'database of the caller';
COMMENT ON COLUMN emogi_runs.function IS 'the function called';
COMMENT ON COLUMN emogi_runs.source IS 'the graph argument, cut off after 255 bytes';
COMMENT ON COLUMN emogi_runs.status IS 'ok, or failed: ended by an error or a cancel';
COMMENT ON COLUMN emogi_runs.cache IS 'hit: a cached graph was used; stale: one that emogi.max_staleness allows; built: one was built and kept; spliced: one was made of an older one and the changes since, and kept; private: one was built for this call; NULL: it did not come so far';
COMMENT ON COLUMN emogi_runs.why_private IS 'why the graph of a query or a view was built for this call alone';
COMMENT ON COLUMN emogi_runs.engine IS 'cpu or cuda; NULL: it did not come so far';
COMMENT ON COLUMN emogi_runs.device IS 'number of the GPU, see emogi_devices; NULL: it was not on a GPU';
COMMENT ON COLUMN emogi_runs.placement IS 'host, device, hybrid, peer, managed or staged: where a run on a GPU read the edges from';
COMMENT ON COLUMN emogi_runs.mapping IS 'the mapping that a run on a GPU was asked for, auto if none';
COMMENT ON COLUMN emogi_runs.reason IS 'why the run was not on a GPU, where there is one or one was asked for, or which GPU that was to help was left out';
COMMENT ON COLUMN emogi_runs.wait_ms IS 'milliseconds of waiting for the engine worker';
COMMENT ON COLUMN emogi_runs.refresh_ms IS 'milliseconds of finding out what has changed in the table since the graph was made';
COMMENT ON COLUMN emogi_runs.scan_ms IS 'milliseconds of reading the edges; 0: not read';
COMMENT ON COLUMN emogi_runs.keys_ms IS 'milliseconds of finding the vertices';
COMMENT ON COLUMN emogi_runs.csr_ms IS 'milliseconds of making the lists';
COMMENT ON COLUMN emogi_runs.splice_ms IS 'milliseconds of making the graph of an older one and the changes, or of the edges kept in memory';
COMMENT ON COLUMN emogi_runs.transfer_ms IS 'milliseconds of copies to and from the GPU and of registering memory with it';
COMMENT ON COLUMN emogi_runs.run_ms IS 'milliseconds of the traversal itself';
COMMENT ON COLUMN emogi_runs.rows_ms IS 'milliseconds from the first row to the last, with what the query did with them in between';
COMMENT ON COLUMN emogi_runs.total_ms IS 'milliseconds from the beginning to the end of the call';
COMMENT ON COLUMN emogi_runs.pages_looked IS 'pages of the table that were read to find the changes';
COMMENT ON COLUMN emogi_runs.pages_by_map IS 'pages that the visibility map says to be as they were';
COMMENT ON COLUMN emogi_runs.pages_by_lsn IS 'pages whose log position says that they are as they were';
COMMENT ON COLUMN emogi_runs.changes IS 'edges that were found to have come or gone';
COMMENT ON COLUMN emogi_runs.age_ms IS 'milliseconds since a stale graph was known to be what the table held; NULL: it was exact';
COMMENT ON COLUMN emogi_runs.vertices IS 'number of vertices of the graph';
COMMENT ON COLUMN emogi_runs.edges IS 'number of list entries of the graph one way';
COMMENT ON COLUMN emogi_runs.reached IS 'number of vertices reached';
COMMENT ON COLUMN emogi_runs.levels IS 'number of levels entered, or of iterations made';
COMMENT ON COLUMN emogi_runs.edges_traversed IS 'number of list entries that the engine looked at';
COMMENT ON COLUMN emogi_runs.edges_per_second IS 'edges_traversed per second of run_ms; NULL without a run';
COMMENT ON COLUMN emogi_runs.link_bytes IS 'bytes of edges that crossed the link to a GPU in the run, read in place or copied';
COMMENT ON COLUMN emogi_runs.links IS 'GPUs over whose links edges came while it ran';
COMMENT ON COLUMN emogi_runs.network_bytes IS 'bytes of rows that came from the servers of foreign tables; 0: none were read so';
COMMENT ON COLUMN emogi_runs.rows IS 'number of rows returned';

CREATE FUNCTION emogi_stat_graphs(OUT database name, OUT username name, OUT relation oid, OUT query_id bigint, OUT source text,
	OUT function text, OUT calls bigint, OUT errors bigint, OUT hits bigint, OUT live_steps bigint, OUT builds bigint,
	OUT private_builds bigint, OUT index_walks bigint, OUT total_ms float8, OUT min_ms float8, OUT max_ms float8, OUT mean_ms float8,
	OUT build_ms float8, OUT run_ms float8, OUT wait_ms float8, OUT rows bigint, OUT edges_traversed bigint, OUT last_call timestamptz,
	OUT stats_reset timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION emogi_stat_graphs() IS 'the rows of the view emogi_stat_graphs';
CREATE VIEW emogi_stat_graphs AS SELECT * FROM emogi_stat_graphs();
GRANT SELECT ON emogi_stat_graphs TO PUBLIC;
COMMENT ON VIEW emogi_stat_graphs IS 'sums over the calls of a function on a table, view or query, by database and role, of roles whose rights the caller has; for members of pg_read_all_stats all';
COMMENT ON COLUMN emogi_stat_graphs.database IS 'database of the callers; NULL: it is gone';
COMMENT ON COLUMN emogi_stat_graphs.username IS 'role of the callers; NULL: it is gone';
COMMENT ON COLUMN emogi_stat_graphs.relation IS 'object id of the table or view; 0: a query';
COMMENT ON COLUMN emogi_stat_graphs.query_id IS 'number made of the text of a query without its constants; NULL: a table or view';
COMMENT ON COLUMN emogi_stat_graphs.source IS 'the table or view, as the search path names it, NULL when it is gone, and of another database as it was called first; of a query its text without constants, cut off after 255 bytes';
COMMENT ON COLUMN emogi_stat_graphs.function IS 'the function called';
COMMENT ON COLUMN emogi_stat_graphs.calls IS 'number of calls that have ended';
COMMENT ON COLUMN emogi_stat_graphs.errors IS '... of them by an error or a cancel';
COMMENT ON COLUMN emogi_stat_graphs.hits IS 'number of calls that found their graph in the cache, also one that emogi.max_staleness allows';
COMMENT ON COLUMN emogi_stat_graphs.live_steps IS 'number of calls for which a graph was made of an older one and the changes since, or that used an older one with them';
COMMENT ON COLUMN emogi_stat_graphs.builds IS 'number of calls that built their graph for all';
COMMENT ON COLUMN emogi_stat_graphs.private_builds IS 'number of calls that built, or spliced, a graph for themselves alone';
COMMENT ON COLUMN emogi_stat_graphs.index_walks IS 'number of calls that walked over an index and needed no graph';
COMMENT ON COLUMN emogi_stat_graphs.total_ms IS 'milliseconds of all calls, those that failed included';
COMMENT ON COLUMN emogi_stat_graphs.min_ms IS 'milliseconds of the shortest call';
COMMENT ON COLUMN emogi_stat_graphs.max_ms IS 'milliseconds of the longest call';
COMMENT ON COLUMN emogi_stat_graphs.mean_ms IS 'milliseconds of a call on average';
COMMENT ON COLUMN emogi_stat_graphs.build_ms IS 'milliseconds of making graphs: refresh_ms, scan_ms, keys_ms, csr_ms and splice_ms of emogi_runs';
COMMENT ON COLUMN emogi_stat_graphs.run_ms IS 'milliseconds of the traversals themselves';
COMMENT ON COLUMN emogi_stat_graphs.wait_ms IS 'milliseconds of waiting for the engine worker';
COMMENT ON COLUMN emogi_stat_graphs.rows IS 'number of rows returned';
COMMENT ON COLUMN emogi_stat_graphs.edges_traversed IS 'number of list entries that the engine looked at';
COMMENT ON COLUMN emogi_stat_graphs.last_call IS 'when the call that ended last began';
COMMENT ON COLUMN emogi_stat_graphs.stats_reset IS 'since when the row is counted: the beginning of its first call';

CREATE FUNCTION emogi_stat_info(OUT entries int, OUT max_entries int, OUT dealloc bigint, OUT stats_reset timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 1;
COMMENT ON FUNCTION emogi_stat_info() IS 'the rows of the view emogi_stat_info';
CREATE VIEW emogi_stat_info AS SELECT * FROM emogi_stat_info();
GRANT SELECT ON emogi_stat_info TO PUBLIC;
COMMENT ON VIEW emogi_stat_info IS 'emogi_stat_graphs as a whole';
COMMENT ON COLUMN emogi_stat_info.entries IS 'number of rows of emogi_stat_graphs, those of all roles';
COMMENT ON COLUMN emogi_stat_info.max_entries IS 'how many there may be: emogi.stat_entries';
COMMENT ON COLUMN emogi_stat_info.dealloc IS 'number of rows that have gone to make room: the least used';
COMMENT ON COLUMN emogi_stat_info.stats_reset IS 'since when there has been no emogi_stat_reset()';

CREATE FUNCTION emogi_progress(OUT pid int, OUT username name, OUT database name, OUT function text, OUT source text,
	OUT started timestamptz, OUT state text, OUT phase text, OUT level int, OUT done bigint, OUT total bigint,
	OUT waits_for text, OUT blocked_by int[])
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION emogi_progress() IS 'the rows of the view emogi_progress';
CREATE VIEW emogi_progress AS SELECT * FROM emogi_progress();
GRANT SELECT ON emogi_progress TO PUBLIC;
COMMENT ON VIEW emogi_progress IS 'calls in progress, of roles whose rights the caller has; for members of pg_read_all_stats all';
COMMENT ON COLUMN emogi_progress.pid IS 'process id of the session';
COMMENT ON COLUMN emogi_progress.username IS 'role of the caller';
COMMENT ON COLUMN emogi_progress.database IS 'database of the caller';
COMMENT ON COLUMN emogi_progress.function IS 'the function called';
COMMENT ON COLUMN emogi_progress.source IS 'the graph argument, cut off after 255 bytes';
COMMENT ON COLUMN emogi_progress.started IS 'when the call began';
COMMENT ON COLUMN emogi_progress.state IS 'idle: the session itself is at work; queued: waits for the engine worker; running: the worker is at it; waiting: for something else';
COMMENT ON COLUMN emogi_progress.phase IS 'starting, refresh, scan, keys, csr, splice, transfer, run or rows';
COMMENT ON COLUMN emogi_progress.level IS 'level or iteration of the traversal, from 0';
COMMENT ON COLUMN emogi_progress.done IS 'of total: edges or vertices, as the phase has it';
COMMENT ON COLUMN emogi_progress.total IS 'edges or vertices of the phase; NULL: not known';
COMMENT ON COLUMN emogi_progress.waits_for IS 'engine: the engine worker; slot: one of those for calls in progress; build: another call''s build of the same graph; room: memory of graphs that are evicted; NULL: nothing';
COMMENT ON COLUMN emogi_progress.blocked_by IS 'process ids of the sessions that it waits for; NULL: none';
