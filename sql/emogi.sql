-- emogi: the whole script of the current version; copied to emogi--VERSION.sql when the extension is built.
\echo Use "CREATE EXTENSION emogi" to load this file. \quit

CREATE FUNCTION emogi_version() RETURNS text
AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION emogi_version() IS 'version of the emogi library that is loaded';

-- Where rows of a query enter a graph under construction. For emogi itself: without a call in progress it raises an error.
CREATE FUNCTION emogi_sink_transition(internal, bigint, bigint, bigint) RETURNS internal
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

CREATE FUNCTION emogi_bfs(graph text, source bigint, max_depth int DEFAULT NULL, direction text DEFAULT 'out',
						  OUT vertex bigint, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_one' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_bfs(text, bigint, int, text) IS 'vertices reached from a source, with the fewest hops to each';

CREATE FUNCTION emogi_bfs(graph text, source bigint[], max_depth int DEFAULT NULL, direction text DEFAULT 'out',
						  OUT vertex bigint, OUT level int)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'emogi_bfs_many' LANGUAGE C STABLE PARALLEL RESTRICTED COST 100000 ROWS 100000;
COMMENT ON FUNCTION emogi_bfs(text, bigint[], int, text) IS 'vertices reached from any of several sources, with the fewest hops to each';

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
