-- emogi: the extension's script without the functions of sql/functions.dat. When the extension is built, tools/functions
-- puts these in the place of the line @FUNCTIONS@ below, and the version in, and writes emogi--VERSION.sql.
\echo Use "CREATE EXTENSION emogi" to load this file. \quit

-- A server that has not been restarted since emogi was updated still has the older library, which says so here.
CREATE FUNCTION _emogi_script(version text) RETURNS void AS 'MODULE_PATHNAME', 'emogi_script' LANGUAGE C STRICT;
SELECT _emogi_script('@EXTVERSION@');
DROP FUNCTION _emogi_script(text);

-- Functions for internal use begin with an underscore: \df emogi_* does not list them.

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
-- A numeric weight as a double, and the error for the NULL cost of one direction of an edge: those of tables that are read from
-- their pages. A row whose end is NULL has no edge, and no error.
CREATE FUNCTION _emogi_weight(numeric, src "any", dst "any") RETURNS float8
AS 'MODULE_PATHNAME', 'emogi_weight_of_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _emogi_no_cost(src "any", dst "any", back boolean, forward_name text, reverse_name text) RETURNS float8
AS 'MODULE_PATHNAME', 'emogi_sink_no_cost' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE AGGREGATE _emogi_sink(token bigint, src bigint, dst bigint) (
	SFUNC = _emogi_sink_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink(bigint, bigint, bigint) IS 'for internal use by emogi';

CREATE AGGREGATE _emogi_sink(token bigint, src bigint, dst bigint, weight float8) (
	SFUNC = _emogi_sink_transition_weighted,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink(bigint, bigint, bigint, float8) IS 'for internal use by emogi';

-- The same for vertices that are not integers.
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
COMMENT ON AGGREGATE _emogi_sink(bigint, anyelement, anyelement) IS 'for internal use by emogi';

CREATE AGGREGATE _emogi_sink(token bigint, src anyelement, dst anyelement, weight float8) (
	SFUNC = _emogi_sink_transition_weighted,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink(bigint, anyelement, anyelement, float8) IS 'for internal use by emogi';

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
COMMENT ON AGGREGATE _emogi_sink_rows(bigint, record, record) IS 'for internal use by emogi';

CREATE AGGREGATE _emogi_sink_rows(token bigint, src record, dst record, weight float8) (
	SFUNC = _emogi_sink_transition_rows,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_rows(bigint, record, record, float8) IS 'for internal use by emogi';

-- The same with vertices in addition to the edges, which may have none.
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
COMMENT ON AGGREGATE _emogi_sink_vertices(bigint, bigint, bigint, bigint) IS 'for internal use by emogi';

CREATE AGGREGATE _emogi_sink_vertices(token bigint, src bigint, dst bigint, vertex bigint, weight float8) (
	SFUNC = _emogi_sink_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_vertices(bigint, bigint, bigint, bigint, float8) IS 'for internal use by emogi';

CREATE AGGREGATE _emogi_sink_vertices(token bigint, src anyelement, dst anyelement, vertex anyelement) (
	SFUNC = _emogi_sink_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_vertices(bigint, anyelement, anyelement, anyelement) IS 'for internal use by emogi';

CREATE AGGREGATE _emogi_sink_vertices(token bigint, src anyelement, dst anyelement, vertex anyelement, weight float8) (
	SFUNC = _emogi_sink_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_vertices(bigint, anyelement, anyelement, anyelement, float8) IS 'for internal use by emogi';

CREATE AGGREGATE _emogi_sink_rows_vertices(token bigint, src record, dst record, vertex record) (
	SFUNC = _emogi_sink_rows_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_rows_vertices(bigint, record, record, record) IS 'for internal use by emogi';

CREATE AGGREGATE _emogi_sink_rows_vertices(token bigint, src record, dst record, vertex record, weight float8) (
	SFUNC = _emogi_sink_rows_vertices_transition,
	STYPE = internal,
	COMBINEFUNC = _emogi_sink_combine,
	SERIALFUNC = _emogi_sink_serialize,
	DESERIALFUNC = _emogi_sink_deserialize,
	FINALFUNC = _emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _emogi_sink_rows_vertices(bigint, record, record, record, float8) IS 'for internal use by emogi';

-- The planner support function of the functions below.
CREATE FUNCTION _emogi_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'emogi_support' LANGUAGE C STRICT PARALLEL SAFE;

@FUNCTIONS@

-- Views. Everyone may select them; each shows a caller only the rows that the caller may see.

CREATE FUNCTION emogi_devices(OUT device int, OUT engine text, OUT name text, OUT units int, OUT memory_bytes bigint,
	OUT used_bytes bigint, OUT link_gbps float8, OUT driver text, OUT state text, OUT reason text, OUT pid int)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2;
COMMENT ON FUNCTION emogi_devices() IS 'the rows of the view emogi_devices';
CREATE VIEW emogi_devices AS SELECT * FROM emogi_devices();
GRANT SELECT ON emogi_devices TO PUBLIC;
COMMENT ON VIEW emogi_devices IS 'processor and GPUs that emogi can compute on, or the reason why there is no GPU';
COMMENT ON COLUMN emogi_devices.device IS 'number of the GPU; -1: the processor; NULL: there is no GPU';
COMMENT ON COLUMN emogi_devices.engine IS 'cpu or cuda';
COMMENT ON COLUMN emogi_devices.name IS 'name of the processor or GPU';
COMMENT ON COLUMN emogi_devices.units IS 'threads of the CPU engine, or multiprocessors of the GPU';
COMMENT ON COLUMN emogi_devices.memory_bytes IS 'processor: bytes of the budget of all graphs and results, emogi.max_memory; GPU: bytes of its memory';
COMMENT ON COLUMN emogi_devices.used_bytes IS 'processor: bytes of that budget in use; GPU: bytes of its memory used for cached graphs';
COMMENT ON COLUMN emogi_devices.link_gbps IS 'measured speed of copies to the GPU, 10^9 bytes per second';
COMMENT ON COLUMN emogi_devices.driver IS 'versions of the driver and the CUDA runtime';
COMMENT ON COLUMN emogi_devices.state IS 'ready, starting, absent or failed';
COMMENT ON COLUMN emogi_devices.reason IS 'why the device is not ready';
COMMENT ON COLUMN emogi_devices.pid IS 'process ID of the engine worker';

CREATE FUNCTION emogi_graphs(OUT source text, OUT database text, OUT relation oid, OUT columns text,
	OUT direction text, OUT backward boolean, OUT state text, OUT vertices bigint, OUT edges bigint,
	OUT skipped_rows bigint, OUT bytes bigint, OUT key_bytes bigint, OUT tracker_bytes bigint,
	OUT property_columns text, OUT property_bytes bigint, OUT on_device boolean, OUT hierarchy text, OUT pins int, OUT kept boolean, OUT hits bigint,
	OUT built_at timestamptz, OUT last_used timestamptz, OUT build_ms float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION emogi_graphs() IS 'the rows of the view emogi_graphs';
CREATE VIEW emogi_graphs AS SELECT * FROM emogi_graphs();
GRANT SELECT ON emogi_graphs TO PUBLIC;
COMMENT ON VIEW emogi_graphs IS 'cached graphs of this database: of tables that the caller may select, and of queries and views for which the caller has built them; for members of pg_read_all_stats, all graphs of all databases';
COMMENT ON COLUMN emogi_graphs.source IS 'name of the table, qualified if it is not in the search_path; for a query or view, the text of the query; NULL: dropped, or in another database';
COMMENT ON COLUMN emogi_graphs.database IS 'database of the table or query';
COMMENT ON COLUMN emogi_graphs.relation IS 'OID of the table or view; 0: a query';
COMMENT ON COLUMN emogi_graphs.columns IS 'columns read: source and target, and weight or cost and reverse_cost if used; NULL: a query or view, dropped, or in another database';
COMMENT ON COLUMN emogi_graphs.direction IS 'direction of the adjacency lists: out, in or both';
COMMENT ON COLUMN emogi_graphs.backward IS 'whether the graph also has the lists of the opposite direction, which some functions need';
COMMENT ON COLUMN emogi_graphs.state IS 'building, ready, or evicting: in use, but not by new calls';
COMMENT ON COLUMN emogi_graphs.vertices IS 'number of vertices; NULL while building';
COMMENT ON COLUMN emogi_graphs.edges IS 'number of list entries in one direction, two per edge for direction both; NULL while building';
COMMENT ON COLUMN emogi_graphs.skipped_rows IS 'number of rows skipped because an end is NULL; NULL while building';
COMMENT ON COLUMN emogi_graphs.bytes IS 'bytes of shared memory, without those of the next two columns';
COMMENT ON COLUMN emogi_graphs.key_bytes IS 'bytes of shared memory for vertex keys that are not integers; versions of a graph share them';
COMMENT ON COLUMN emogi_graphs.tracker_bytes IS 'bytes of shared memory for incremental maintenance, shared by all graphs of the table and columns; 0: not maintained incrementally';
COMMENT ON COLUMN emogi_graphs.property_columns IS 'property columns, for edge_filter; NULL: none, or in another database';
COMMENT ON COLUMN emogi_graphs.property_bytes IS 'bytes of shared memory of the property columns, included in bytes';
COMMENT ON COLUMN emogi_graphs.on_device IS 'whether a GPU may hold a copy';
COMMENT ON COLUMN emogi_graphs.hierarchy IS 'contraction hierarchy: ready, or making while it is built; NULL: none';
COMMENT ON COLUMN emogi_graphs.pins IS 'number of calls that use the graph now';
COMMENT ON COLUMN emogi_graphs.kept IS 'whether the graph is exempt from eviction: emogi_prewarm(..., keep => true)';
COMMENT ON COLUMN emogi_graphs.hits IS 'number of calls that found the graph in the cache';
COMMENT ON COLUMN emogi_graphs.built_at IS 'when the graph became ready; NULL while building';
COMMENT ON COLUMN emogi_graphs.last_used IS 'when a call last used the graph; NULL while building';
COMMENT ON COLUMN emogi_graphs.build_ms IS 'milliseconds of the build, or of the refresh and merge; NULL while building';

CREATE FUNCTION emogi_cache(OUT graphs int, OUT tables int, OUT bytes bigint, OUT key_bytes bigint, OUT tracker_bytes bigint, OUT allowed_bytes bigint,
	OUT hits bigint, OUT builds bigint, OUT merges bigint, OUT overlays bigint, OUT private_builds bigint, OUT waits bigint, OUT evictions bigint, OUT drops bigint,
	OUT reset_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 1;
COMMENT ON FUNCTION emogi_cache() IS 'the rows of the view emogi_cache';
CREATE VIEW emogi_cache AS SELECT * FROM emogi_cache();
GRANT SELECT ON emogi_cache TO PUBLIC;
COMMENT ON VIEW emogi_cache IS 'the whole cache of graphs; counters since the last emogi_reset(), or since the server started';
COMMENT ON COLUMN emogi_cache.graphs IS 'number of graphs that are ready';
COMMENT ON COLUMN emogi_cache.tables IS 'number of tables whose writers are tracked for cached graphs';
COMMENT ON COLUMN emogi_cache.bytes IS 'bytes of shared memory of all cached graphs, including those that are being evicted';
COMMENT ON COLUMN emogi_cache.key_bytes IS 'bytes of shared memory for vertex keys that are not integers, of all graphs';
COMMENT ON COLUMN emogi_cache.tracker_bytes IS 'bytes of shared memory for incremental maintenance';
COMMENT ON COLUMN emogi_cache.allowed_bytes IS 'bytes that all graphs and results together may use: emogi.max_memory';
COMMENT ON COLUMN emogi_cache.hits IS 'number of calls that found their graph in the cache';
COMMENT ON COLUMN emogi_cache.builds IS 'number of graphs built and cached';
COMMENT ON COLUMN emogi_cache.merges IS 'number of graphs merged from an older one and the changes since, and cached';
COMMENT ON COLUMN emogi_cache.overlays IS 'number of calls that used an older graph with an overlay of the changes since';
COMMENT ON COLUMN emogi_cache.private_builds IS 'number of graphs built for one call; merged ones are not counted';
COMMENT ON COLUMN emogi_cache.waits IS 'number of calls that waited while another call built or refreshed their graph';
COMMENT ON COLUMN emogi_cache.evictions IS 'number of graphs evicted to make room';
COMMENT ON COLUMN emogi_cache.drops IS 'number of graphs dropped because no call could use them any longer, or a newer one replaced them';
COMMENT ON COLUMN emogi_cache.reset_at IS 'when the counters were last reset';

CREATE FUNCTION emogi_runs(OUT id bigint, OUT started timestamptz, OUT pid int, OUT username name, OUT database name,
	OUT function text, OUT source text, OUT status text, OUT cache text, OUT why_private text, OUT why_built text, OUT engine text, OUT device int, OUT placement text,
	OUT mapping text, OUT reason text, OUT wait_ms float8, OUT refresh_ms float8, OUT scan_ms float8,
	OUT keys_ms float8, OUT csr_ms float8, OUT merge_ms float8, OUT transfer_ms float8, OUT run_ms float8,
	OUT rows_ms float8, OUT total_ms float8, OUT pages_rescanned bigint, OUT pages_skipped_by_map bigint, OUT pages_skipped_by_lsn bigint,
	OUT changes bigint, OUT age_ms float8, OUT vertices bigint, OUT edges bigint, OUT reached bigint, OUT levels int,
	OUT edges_traversed bigint, OUT edges_per_second float8, OUT link_bytes bigint, OUT links int, OUT rows bigint,
	OUT network_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION emogi_runs() IS 'the rows of the view emogi_runs';
CREATE VIEW emogi_runs AS SELECT * FROM emogi_runs();
GRANT SELECT ON emogi_runs TO PUBLIC;
COMMENT ON VIEW emogi_runs IS 'the most recent calls, up to emogi.runs_max, of roles whose privileges the caller has; for members of pg_read_all_stats, of all roles';
COMMENT ON COLUMN emogi_runs.id IS 'number of the call, ascending';
COMMENT ON COLUMN emogi_runs.started IS 'when the call began';
COMMENT ON COLUMN emogi_runs.pid IS 'process ID of the session';
COMMENT ON COLUMN emogi_runs.username IS 'role of the caller; NULL: dropped';
COMMENT ON COLUMN emogi_runs.database IS 'database of the call; NULL: dropped';
COMMENT ON COLUMN emogi_runs.function IS 'function called';
COMMENT ON COLUMN emogi_runs.source IS 'graph argument, truncated to 255 bytes';
COMMENT ON COLUMN emogi_runs.status IS 'ok, or failed: ended by an error or canceled';
COMMENT ON COLUMN emogi_runs.cache IS 'hit: a cached graph; stale: one that emogi.max_staleness allows; built: built and cached; merged: merged from an older graph and the changes since, and cached; overlay: an older graph with an overlay of the changes; private: built or merged for this call only; index: no graph, or one of the edges that indexes returned; NULL: not reached';
COMMENT ON COLUMN emogi_runs.why_private IS 'why the graph of a query or view was built for this call only';
COMMENT ON COLUMN emogi_runs.why_built IS 'why the graph was built and cached, instead of found or refreshed; NULL: cache is not built';
COMMENT ON COLUMN emogi_runs.engine IS 'cpu or cuda; backend: the session itself; hierarchy: the session, in a contraction hierarchy; backend, cpu and backend, cuda: some pairs by the session, the others by the engine; NULL: not reached';
COMMENT ON COLUMN emogi_runs.device IS 'number of the GPU in emogi_devices; NULL: not on a GPU';
COMMENT ON COLUMN emogi_runs.placement IS 'memory from which a GPU read the edges: host, device, hybrid, peer, managed or staged; NULL: not on a GPU';
COMMENT ON COLUMN emogi_runs.mapping IS 'emogi.papers_mapping of a run on a GPU; NULL: not on a GPU';
COMMENT ON COLUMN emogi_runs.reason IS 'why the session itself answered, why the run was not on a GPU, or which GPU could not help and why; NULL: none of these';
COMMENT ON COLUMN emogi_runs.wait_ms IS 'milliseconds of waiting for the engine, a slot, the build of another call, or memory';
COMMENT ON COLUMN emogi_runs.refresh_ms IS 'milliseconds of finding the changes of the table since the graph was built';
COMMENT ON COLUMN emogi_runs.scan_ms IS 'milliseconds of reading the edges; 0: not read';
COMMENT ON COLUMN emogi_runs.keys_ms IS 'milliseconds of collecting the vertices';
COMMENT ON COLUMN emogi_runs.csr_ms IS 'milliseconds of building the adjacency lists';
COMMENT ON COLUMN emogi_runs.merge_ms IS 'milliseconds of merging the changes into an older graph, or of copying edges from a cached graph';
COMMENT ON COLUMN emogi_runs.transfer_ms IS 'milliseconds of copies to and from the GPU, and of registering memory with it';
COMMENT ON COLUMN emogi_runs.run_ms IS 'milliseconds of the traversal itself';
COMMENT ON COLUMN emogi_runs.rows_ms IS 'milliseconds from the first row to the last, including the processing of rows by the query';
COMMENT ON COLUMN emogi_runs.total_ms IS 'milliseconds of the whole call';
COMMENT ON COLUMN emogi_runs.pages_rescanned IS 'number of pages of the table that were read to find the changes';
COMMENT ON COLUMN emogi_runs.pages_skipped_by_map IS 'number of pages skipped because of the visibility map';
COMMENT ON COLUMN emogi_runs.pages_skipped_by_lsn IS 'number of pages skipped because of the LSN in their header';
COMMENT ON COLUMN emogi_runs.changes IS 'number of edges inserted or deleted since the graph was built';
COMMENT ON COLUMN emogi_runs.age_ms IS 'milliseconds since a stale graph was known to be exact; NULL: the graph was exact';
COMMENT ON COLUMN emogi_runs.vertices IS 'number of vertices of the graph; NULL: no graph';
COMMENT ON COLUMN emogi_runs.edges IS 'number of list entries of the graph in one direction; NULL: no graph';
COMMENT ON COLUMN emogi_runs.reached IS 'number of vertices reached';
COMMENT ON COLUMN emogi_runs.levels IS 'number of levels, including that of the sources, or of iterations';
COMMENT ON COLUMN emogi_runs.edges_traversed IS 'number of list entries that the engine read';
COMMENT ON COLUMN emogi_runs.edges_per_second IS 'edges_traversed per second of run_ms; NULL: no run';
COMMENT ON COLUMN emogi_runs.link_bytes IS 'bytes of edges that crossed the link to a GPU during the run, read in place or copied';
COMMENT ON COLUMN emogi_runs.links IS 'number of GPUs over whose links edges were read, or that took part in the run';
COMMENT ON COLUMN emogi_runs.network_bytes IS 'bytes of rows received from the servers of foreign tables; 0: none';
COMMENT ON COLUMN emogi_runs.rows IS 'number of rows returned';

CREATE FUNCTION emogi_stat_graphs(OUT database name, OUT username name, OUT relation oid, OUT query_id bigint, OUT source text,
	OUT function text, OUT calls bigint, OUT errors bigint, OUT hits bigint, OUT incremental_calls bigint, OUT builds bigint,
	OUT private_builds bigint, OUT index_searches bigint, OUT total_ms float8, OUT min_ms float8, OUT max_ms float8, OUT mean_ms float8,
	OUT build_ms float8, OUT run_ms float8, OUT wait_ms float8, OUT rows bigint, OUT edges_traversed bigint, OUT last_call timestamptz,
	OUT stats_reset timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION emogi_stat_graphs() IS 'the rows of the view emogi_stat_graphs';
CREATE VIEW emogi_stat_graphs AS SELECT * FROM emogi_stat_graphs();
GRANT SELECT ON emogi_stat_graphs TO PUBLIC;
COMMENT ON VIEW emogi_stat_graphs IS 'statistics of calls by database, role, table, view or query, and function, of roles whose privileges the caller has; for members of pg_read_all_stats, of all roles';
COMMENT ON COLUMN emogi_stat_graphs.database IS 'database of the calls; NULL: dropped';
COMMENT ON COLUMN emogi_stat_graphs.username IS 'role of the callers; NULL: dropped, or the sums of evicted rows';
COMMENT ON COLUMN emogi_stat_graphs.relation IS 'OID of the table or view; 0: a query';
COMMENT ON COLUMN emogi_stat_graphs.query_id IS 'hash of the text of a query without constants, comments and blanks; NULL: a table or view';
COMMENT ON COLUMN emogi_stat_graphs.source IS 'name of the table or view, qualified if it is not in the search_path; NULL: dropped; in another database, as first called; for a query, its text without constants, truncated to 255 bytes';
COMMENT ON COLUMN emogi_stat_graphs.function IS 'function called';
COMMENT ON COLUMN emogi_stat_graphs.calls IS 'number of calls that have ended';
COMMENT ON COLUMN emogi_stat_graphs.errors IS 'number of calls that ended by an error or were canceled';
COMMENT ON COLUMN emogi_stat_graphs.hits IS 'number of calls that found their graph in the cache: hit and stale in emogi_runs';
COMMENT ON COLUMN emogi_stat_graphs.incremental_calls IS 'number of calls that used an older graph and the changes since: merged and overlay in emogi_runs';
COMMENT ON COLUMN emogi_stat_graphs.builds IS 'number of calls that built a graph for the cache: built in emogi_runs';
COMMENT ON COLUMN emogi_stat_graphs.private_builds IS 'number of calls that built or merged a graph for themselves: private in emogi_runs';
COMMENT ON COLUMN emogi_stat_graphs.index_searches IS 'number of calls that searched indexes instead of a cached graph: index in emogi_runs';
COMMENT ON COLUMN emogi_stat_graphs.total_ms IS 'milliseconds of all calls, including those that failed';
COMMENT ON COLUMN emogi_stat_graphs.min_ms IS 'milliseconds of the shortest call';
COMMENT ON COLUMN emogi_stat_graphs.max_ms IS 'milliseconds of the longest call';
COMMENT ON COLUMN emogi_stat_graphs.mean_ms IS 'mean milliseconds of a call';
COMMENT ON COLUMN emogi_stat_graphs.build_ms IS 'milliseconds of building graphs: refresh_ms, scan_ms, keys_ms, csr_ms and merge_ms of emogi_runs';
COMMENT ON COLUMN emogi_stat_graphs.run_ms IS 'milliseconds of the traversals themselves';
COMMENT ON COLUMN emogi_stat_graphs.wait_ms IS 'milliseconds of waiting for the engine, a slot, the build of another call, or memory';
COMMENT ON COLUMN emogi_stat_graphs.rows IS 'number of rows returned';
COMMENT ON COLUMN emogi_stat_graphs.edges_traversed IS 'number of list entries that the engine read';
COMMENT ON COLUMN emogi_stat_graphs.last_call IS 'when the call that ended last began';
COMMENT ON COLUMN emogi_stat_graphs.stats_reset IS 'when the first call of the row began';

CREATE FUNCTION emogi_stat_info(OUT entries int, OUT max_entries int, OUT dealloc bigint, OUT stats_reset timestamptz,
	OUT preloaded bool)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 1;
COMMENT ON FUNCTION emogi_stat_info() IS 'the rows of the view emogi_stat_info';
CREATE VIEW emogi_stat_info AS SELECT * FROM emogi_stat_info();
GRANT SELECT ON emogi_stat_info TO PUBLIC;
COMMENT ON VIEW emogi_stat_info IS 'emogi_stat_graphs as a whole';
COMMENT ON COLUMN emogi_stat_info.entries IS 'number of rows of emogi_stat_graphs, of all roles';
COMMENT ON COLUMN emogi_stat_info.max_entries IS 'maximum number of rows: emogi.stat_max';
COMMENT ON COLUMN emogi_stat_info.dealloc IS 'number of least used rows that were evicted to make room';
COMMENT ON COLUMN emogi_stat_info.stats_reset IS 'when emogi_stat_reset() was last called, or counting began';
COMMENT ON COLUMN emogi_stat_info.preloaded IS 'emogi is in shared_preload_libraries; false: emogi runs without, for a trial';

CREATE FUNCTION emogi_progress(OUT pid int, OUT username name, OUT database name, OUT function text, OUT source text,
	OUT started timestamptz, OUT state text, OUT phase text, OUT level int, OUT done bigint, OUT total bigint,
	OUT waits_for text, OUT blocked_by int[])
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION emogi_progress() IS 'the rows of the view emogi_progress';
CREATE VIEW emogi_progress AS SELECT * FROM emogi_progress();
GRANT SELECT ON emogi_progress TO PUBLIC;
COMMENT ON VIEW emogi_progress IS 'calls in progress, of roles whose privileges the caller has; for members of pg_read_all_stats, of all roles';
COMMENT ON COLUMN emogi_progress.pid IS 'process ID of the session';
COMMENT ON COLUMN emogi_progress.username IS 'role of the caller';
COMMENT ON COLUMN emogi_progress.database IS 'database of the call';
COMMENT ON COLUMN emogi_progress.function IS 'function called';
COMMENT ON COLUMN emogi_progress.source IS 'graph argument, truncated to 255 bytes';
COMMENT ON COLUMN emogi_progress.started IS 'when the call began';
COMMENT ON COLUMN emogi_progress.state IS 'idle: the session or its client is working; queued: waiting for the engine; running: the engine is working; waiting: for something else';
COMMENT ON COLUMN emogi_progress.phase IS 'starting, refresh, scan, keys, csr, merge, transfer, run or rows';
COMMENT ON COLUMN emogi_progress.level IS 'level or iteration of the traversal, from 0';
COMMENT ON COLUMN emogi_progress.done IS 'number of edges or vertices of the phase that are done';
COMMENT ON COLUMN emogi_progress.total IS 'number of edges or vertices of the phase; NULL: unknown';
COMMENT ON COLUMN emogi_progress.waits_for IS 'engine: other calls occupy the engine; slot: too many calls are in progress; build: another call builds or refreshes the same graph; room: evicted graphs must release their memory; NULL: nothing';
COMMENT ON COLUMN emogi_progress.blocked_by IS 'process IDs of the sessions that the call waits for; NULL: none';
