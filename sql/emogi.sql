-- emogi: the whole script of the current version; copied to emogi--VERSION.sql when the extension is built.
\echo Use "CREATE EXTENSION emogi" to load this file. \quit

CREATE FUNCTION emogi_version() RETURNS text
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION emogi_version() IS 'version of the emogi library that is loaded';

-- Where rows of a query enter a graph under construction. For emogi itself: without a call in progress it raises an error.
CREATE FUNCTION emogi_sink_transition(internal, bigint, bigint, bigint) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION emogi_sink_transition_weighted(internal, bigint, bigint, bigint, float8) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION emogi_sink_combine(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION emogi_sink_serialize(internal) RETURNS bytea
AS 'MODULE_PATHNAME' LANGUAGE C STRICT PARALLEL SAFE;
CREATE FUNCTION emogi_sink_deserialize(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME' LANGUAGE C STRICT PARALLEL SAFE;
CREATE FUNCTION emogi_sink_final(internal) RETURNS bigint
AS 'MODULE_PATHNAME' LANGUAGE C PARALLEL SAFE;
CREATE AGGREGATE emogi_sink(token bigint, src bigint, dst bigint) (
	SFUNC = emogi_sink_transition,
	STYPE = internal,
	COMBINEFUNC = emogi_sink_combine,
	SERIALFUNC = emogi_sink_serialize,
	DESERIALFUNC = emogi_sink_deserialize,
	FINALFUNC = emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE emogi_sink(bigint, bigint, bigint) IS 'for the use of emogi itself';

CREATE AGGREGATE emogi_sink(token bigint, src bigint, dst bigint, weight float8) (
	SFUNC = emogi_sink_transition_weighted,
	STYPE = internal,
	COMBINEFUNC = emogi_sink_combine,
	SERIALFUNC = emogi_sink_serialize,
	DESERIALFUNC = emogi_sink_deserialize,
	FINALFUNC = emogi_sink_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE emogi_sink(bigint, bigint, bigint, float8) IS 'for the use of emogi itself';

-- Functions with a source: for one, and for several (the nearest counts).

CREATE FUNCTION emogi_bfs(graph text, source bigint, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_bfs(text, bigint, int, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph text, source bigint[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_bfs(text, bigint[], int, text) IS 'vertices reached, with the fewest hops to each';

CREATE FUNCTION emogi_sssp(graph text, source bigint, max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_sssp(text, bigint, float8, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sssp(graph text, source bigint[], max_distance float8 DEFAULT NULL, direction text DEFAULT 'out',
	OUT vertex bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sssp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_sssp(text, bigint[], float8, text) IS 'vertices reached, with the least sum of weights to each';

CREATE FUNCTION emogi_sswp(graph text, source bigint, direction text DEFAULT 'out',
	OUT vertex bigint, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_sswp(text, bigint, text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_sswp(graph text, source bigint[], direction text DEFAULT 'out',
	OUT vertex bigint, OUT width float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_sswp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_sswp(text, bigint[], text) IS 'vertices reached, with the width of the widest path to each';

CREATE FUNCTION emogi_ssnsp(graph text, source bigint, direction text DEFAULT 'out',
	OUT vertex bigint, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_ssnsp(text, bigint, text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

CREATE FUNCTION emogi_ssnsp(graph text, source bigint[], direction text DEFAULT 'out',
	OUT vertex bigint, OUT level int, OUT paths float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_ssnsp' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_ssnsp(text, bigint[], text) IS 'vertices reached, with the number of shortest paths (by hops) to each';

-- Functions of the whole graph.

CREATE FUNCTION emogi_cc(graph text,
	OUT vertex bigint, OUT component bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_cc' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_cc(text) IS 'weakly connected components, each named by its smallest vertex';

CREATE FUNCTION emogi_pagerank(graph text, damping float8 DEFAULT 0.85, max_iterations int DEFAULT 100, tolerance float8 DEFAULT 1e-6,
	OUT vertex bigint, OUT rank float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_pagerank' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_pagerank(text, float8, int, float8) IS 'PageRank; the ranks sum to 1';

CREATE FUNCTION emogi_heat(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both',
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_heat' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_heat(text, text, int, float8, text) IS 'temperatures after heat has flowed along the edges';

CREATE FUNCTION emogi_circuit(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'both',
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_circuit' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_circuit(text, text, int, float8, text) IS 'voltages in a network of conductances with fixed poles';

CREATE FUNCTION emogi_neural(graph text, start text, max_iterations int DEFAULT 1000, tolerance float8 DEFAULT 1e-6, direction text DEFAULT 'out',
	OUT vertex bigint, OUT value float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_neural' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_neural(text, text, int, float8, text) IS 'activations of a recurrent network of tanh neurons';

CREATE FUNCTION emogi_shortest_path(graph text, source bigint, target bigint, direction text DEFAULT 'out',
	OUT seq int, OUT vertex bigint, OUT distance float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_shortest_path' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_shortest_path(text, bigint, bigint, text) IS 'the vertices of one shortest path, from source to target';

CREATE FUNCTION emogi_devices(OUT device int, OUT engine text, OUT name text, OUT units int, OUT memory_bytes bigint,
							  OUT used_bytes bigint, OUT link_gbps float8, OUT driver text, OUT state text,
							  OUT reason text, OUT pid int)
RETURNS SETOF record
AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2;
CREATE VIEW emogi_devices AS SELECT * FROM emogi_devices();
GRANT SELECT ON emogi_devices TO PUBLIC;
COMMENT ON VIEW emogi_devices IS 'the processor and each GPU that emogi can compute on, or why there is none';
COMMENT ON COLUMN emogi_devices.device IS 'number of the GPU, -1 for the processor, NULL where there is no GPU';
COMMENT ON COLUMN emogi_devices.units IS 'threads of the engine worker, or multiprocessors';
COMMENT ON COLUMN emogi_devices.memory_bytes IS 'processor: budget of all graphs and results (emogi.max_memory); GPU: its memory';
COMMENT ON COLUMN emogi_devices.used_bytes IS 'processor: bytes of that budget in use now';
COMMENT ON COLUMN emogi_devices.link_gbps IS 'measured copy from pinned memory to the GPU, 10^9 bytes per second';
COMMENT ON COLUMN emogi_devices.state IS 'ready, starting, absent or failed';
COMMENT ON COLUMN emogi_devices.reason IS 'why the device cannot be used';
COMMENT ON COLUMN emogi_devices.pid IS 'process id of the engine worker';
