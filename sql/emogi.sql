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

@FUNCTIONS@

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
	OUT skipped_rows bigint, OUT bytes bigint, OUT key_bytes bigint, OUT tracker_bytes bigint, OUT on_device boolean, OUT hierarchy text, OUT pins int, OUT kept boolean, OUT hits bigint,
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
COMMENT ON COLUMN emogi_graphs.backward IS 'whether the graph has backward lists, which some functions need';
COMMENT ON COLUMN emogi_graphs.state IS 'building, ready or evicting';
COMMENT ON COLUMN emogi_graphs.vertices IS 'number of vertices; NULL while building';
COMMENT ON COLUMN emogi_graphs.edges IS 'number of edges in one direction; both counts every edge twice; NULL while building';
COMMENT ON COLUMN emogi_graphs.skipped_rows IS 'number of rows left out for a NULL end; NULL while building';
COMMENT ON COLUMN emogi_graphs.bytes IS 'bytes of shared memory';
COMMENT ON COLUMN emogi_graphs.key_bytes IS 'bytes of shared memory beside that for the keys of vertices that are no integers; graphs made of each other have them in common';
COMMENT ON COLUMN emogi_graphs.tracker_bytes IS 'bytes of shared memory beside that, by which the graph is maintained incrementally; all graphs of the table and columns share them; 0: it is not';
COMMENT ON COLUMN emogi_graphs.on_device IS 'whether a GPU may keep a copy';
COMMENT ON COLUMN emogi_graphs.hierarchy IS 'state of the contraction hierarchy: ready, or making; NULL: none';
COMMENT ON COLUMN emogi_graphs.pins IS 'number of calls that use it now';
COMMENT ON COLUMN emogi_graphs.kept IS 'whether it is not evicted to make room: emogi_prewarm(..., keep => true)';
COMMENT ON COLUMN emogi_graphs.hits IS 'number of calls that found it here';
COMMENT ON COLUMN emogi_graphs.built_at IS 'when it became ready; NULL while building';
COMMENT ON COLUMN emogi_graphs.last_used IS 'when a call last used it; NULL while building';
COMMENT ON COLUMN emogi_graphs.build_ms IS 'milliseconds that its build took; NULL while building';

CREATE FUNCTION emogi_cache(OUT graphs int, OUT tables int, OUT bytes bigint, OUT key_bytes bigint, OUT tracker_bytes bigint, OUT allowed_bytes bigint,
	OUT hits bigint, OUT builds bigint, OUT merges bigint, OUT overlays bigint, OUT private_builds bigint, OUT waits bigint, OUT evictions bigint, OUT drops bigint,
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
COMMENT ON COLUMN emogi_cache.tracker_bytes IS 'bytes of shared memory by which graphs follow their tables';
COMMENT ON COLUMN emogi_cache.allowed_bytes IS 'bytes that all graphs and results together may take: emogi.max_memory';
COMMENT ON COLUMN emogi_cache.hits IS 'number of calls that found their graph';
COMMENT ON COLUMN emogi_cache.builds IS 'number of graphs built and kept for others';
COMMENT ON COLUMN emogi_cache.merges IS 'number of graphs made of an older one and the changes since, and kept for others';
COMMENT ON COLUMN emogi_cache.overlays IS 'number of calls that were given an older graph and the changes since, and needed no new one';
COMMENT ON COLUMN emogi_cache.private_builds IS 'number of graphs built for one call';
COMMENT ON COLUMN emogi_cache.waits IS 'number of calls that waited for the build of another';
COMMENT ON COLUMN emogi_cache.evictions IS 'number of graphs dropped to make room';
COMMENT ON COLUMN emogi_cache.drops IS 'number of graphs dropped because no call could use them any more, or another does as well';
COMMENT ON COLUMN emogi_cache.reset_at IS 'when the counters began';

CREATE FUNCTION emogi_runs(OUT id bigint, OUT started timestamptz, OUT pid int, OUT username name, OUT database name,
	OUT function text, OUT source text, OUT status text, OUT cache text, OUT why_private text, OUT engine text, OUT device int, OUT placement text,
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
COMMENT ON VIEW emogi_runs IS 'the last runs, emogi.runs_max of them, of roles whose rights the caller has; for members of pg_read_all_stats all';
COMMENT ON COLUMN emogi_runs.id IS 'number of the run, ascending';
COMMENT ON COLUMN emogi_runs.started IS 'when the call began';
COMMENT ON COLUMN emogi_runs.pid IS 'process id of the session';
COMMENT ON COLUMN emogi_runs.username IS 'role of the caller';
COMMENT ON COLUMN emogi_runs.database IS 'database of the caller';
COMMENT ON COLUMN emogi_runs.function IS 'the function called';
COMMENT ON COLUMN emogi_runs.source IS 'the graph argument, cut off after 255 bytes';
COMMENT ON COLUMN emogi_runs.status IS 'ok, or failed: ended by an error or a cancel';
COMMENT ON COLUMN emogi_runs.cache IS 'hit: a cached graph was used; stale: one that emogi.max_staleness allows; built: one was built and kept; merged: one was made of an older one and the changes since, and kept; private: one was built for this call; NULL: it did not come so far';
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
COMMENT ON COLUMN emogi_runs.merge_ms IS 'milliseconds of making the graph of an older one and the changes, or of the edges kept in memory';
COMMENT ON COLUMN emogi_runs.transfer_ms IS 'milliseconds of copies to and from the GPU and of registering memory with it';
COMMENT ON COLUMN emogi_runs.run_ms IS 'milliseconds of the traversal itself';
COMMENT ON COLUMN emogi_runs.rows_ms IS 'milliseconds from the first row to the last, with what the query did with them in between';
COMMENT ON COLUMN emogi_runs.total_ms IS 'milliseconds from the beginning to the end of the call';
COMMENT ON COLUMN emogi_runs.pages_rescanned IS 'pages of the table that were read to find the changes';
COMMENT ON COLUMN emogi_runs.pages_skipped_by_map IS 'pages that the visibility map says to be as they were';
COMMENT ON COLUMN emogi_runs.pages_skipped_by_lsn IS 'pages whose log position says that they are as they were';
COMMENT ON COLUMN emogi_runs.changes IS 'edges that were found to have come or gone';
COMMENT ON COLUMN emogi_runs.age_ms IS 'milliseconds since a stale graph was known to be what the table held; NULL: it was exact';
COMMENT ON COLUMN emogi_runs.vertices IS 'number of vertices of the graph';
COMMENT ON COLUMN emogi_runs.edges IS 'number of edges of the graph in one direction';
COMMENT ON COLUMN emogi_runs.reached IS 'number of vertices reached';
COMMENT ON COLUMN emogi_runs.levels IS 'number of levels entered, or of iterations made';
COMMENT ON COLUMN emogi_runs.edges_traversed IS 'number of edges that the engine traversed';
COMMENT ON COLUMN emogi_runs.edges_per_second IS 'edges_traversed per second of run_ms; NULL without a run';
COMMENT ON COLUMN emogi_runs.link_bytes IS 'bytes of edges that crossed the link to a GPU in the run, read in place or copied';
COMMENT ON COLUMN emogi_runs.links IS 'GPUs over whose links edges came while it ran';
COMMENT ON COLUMN emogi_runs.network_bytes IS 'bytes of rows that came from the servers of foreign tables; 0: none were read so';
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
COMMENT ON COLUMN emogi_stat_graphs.incremental_calls IS 'number of calls that merged the changes into an older graph, or used an older graph with an overlay';
COMMENT ON COLUMN emogi_stat_graphs.builds IS 'number of calls that built their graph for all';
COMMENT ON COLUMN emogi_stat_graphs.private_builds IS 'number of calls that built, or merged, a graph for themselves alone';
COMMENT ON COLUMN emogi_stat_graphs.index_searches IS 'number of calls that searched an index and needed no graph';
COMMENT ON COLUMN emogi_stat_graphs.total_ms IS 'milliseconds of all calls, those that failed included';
COMMENT ON COLUMN emogi_stat_graphs.min_ms IS 'milliseconds of the shortest call';
COMMENT ON COLUMN emogi_stat_graphs.max_ms IS 'milliseconds of the longest call';
COMMENT ON COLUMN emogi_stat_graphs.mean_ms IS 'milliseconds of a call on average';
COMMENT ON COLUMN emogi_stat_graphs.build_ms IS 'milliseconds of making graphs: refresh_ms, scan_ms, keys_ms, csr_ms and merge_ms of emogi_runs';
COMMENT ON COLUMN emogi_stat_graphs.run_ms IS 'milliseconds of the traversals themselves';
COMMENT ON COLUMN emogi_stat_graphs.wait_ms IS 'milliseconds of waiting for the engine worker';
COMMENT ON COLUMN emogi_stat_graphs.rows IS 'number of rows returned';
COMMENT ON COLUMN emogi_stat_graphs.edges_traversed IS 'number of edges that the engine traversed';
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
COMMENT ON COLUMN emogi_stat_info.max_entries IS 'how many there may be: emogi.stat_max';
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
COMMENT ON COLUMN emogi_progress.phase IS 'starting, refresh, scan, keys, csr, merge, transfer, run or rows';
COMMENT ON COLUMN emogi_progress.level IS 'level or iteration of the traversal, from 0';
COMMENT ON COLUMN emogi_progress.done IS 'of total: edges or vertices, as the phase has it';
COMMENT ON COLUMN emogi_progress.total IS 'edges or vertices of the phase; NULL: not known';
COMMENT ON COLUMN emogi_progress.waits_for IS 'engine: the engine worker; slot: one of those for calls in progress; build: another call''s build of the same graph; room: memory of graphs that are evicted; NULL: nothing';
COMMENT ON COLUMN emogi_progress.blocked_by IS 'process ids of the sessions that it waits for; NULL: none';
