/*
 * graph_source.h: the kinds of sources that graphs are built from
 *
 * A resolved graph argument (source/source.h) is a relation or a query; emogi_graph_source_open
 * finds the kind that reads its rows. Each kind is a file with its functions and a row of
 * EMOGI_GRAPH_SOURCE_KINDS; a new kind needs nothing else:
 *
 * heap_source.c          tables, partitioned ones too, whose pages are read here
 * foreign_source.c       foreign tables of postgres_fdw, over connections of their own
 * citus_source.c         Citus tables, likewise
 * filtered_source.c      queries of one table with conditions, whose changes can be tracked
 * query_source.c         other queries and views whose graph can be shared
 * text_source.c          everything else: the executor runs the text for each call
 */
#ifndef EMOGI_GRAPH_SOURCE_H
#define EMOGI_GRAPH_SOURCE_H

#include "analysis/analysis.h"
#include "edges/edges.h"

/* An open source. */
typedef struct EmogiGraphSource
{
	const struct EmogiGraphSourceKind *kind;
	const EmogiSource *source;
	List	   *tables;			/* OIDs of the heaps that hold rows, locked: their writers are known
								 * here */
	List	   *elsewhere;		/* OIDs of the relations that hold other rows, locked */
	EmogiQueryAnalysis *analysis;	/* of a query, open; NULL = none */
	void	   *connection;		/* of kinds with connect() */
	bool		has_snapshot;	/* the active snapshot is that of the source */
	bool		has_row_security;	/* a relation whose rows depend on the caller */
} EmogiGraphSource;

/*
 * A kind of source. Functions may be NULL unless noted: then the kind has no such thing. All of
 * them run under the active snapshot; rows must be those that it sees.
 */
typedef struct EmogiGraphSourceKind
{
	const char *name;

	/*
	 * Recognize a relation, all of whose columns the caller may read, by its partitions and
	 * children, which are locked; fill in tables and elsewhere. One of these two is not NULL.
	 */
	bool		(*takes_relation) (EmogiGraphSource *source, List *relids);

	/* Recognize a query, or a relation that no kind has taken, by its analysis. */
	bool		(*takes_query) (EmogiGraphSource *source);

	/*
	 * Connect before the rows are asked for, and disconnect after they were read. abort is the
	 * callback after an error or at exit, with the connection as its argument.
	 */
	void		(*connect) (EmogiCall *call, EmogiGraphSource *source);
	void		(*disconnect) (EmogiGraphSource *source);
	void		(*abort) (int code, Datum connection);

	/*
	 * Compute the version of all rows that are not in tables: equal fingerprints guarantee equal
	 * rows. Return NULL, or why the graph cannot be shared. NULL = there are no such rows.
	 */
	const char *(*version) (EmogiGraphSource *source, uint8 *fingerprint);

	/* Put the edges into the call's slot. secure_hash: see emogi_sink_begin. Not NULL. */
	void		(*scan) (EmogiCall *call, EmogiGraphSource *source, EmogiWeights weights,
						 bool secure_hash, const struct EmogiPageScans *page_scans);

	/* May the graph be published, or has what was read another meaning meanwhile? NULL = it may. */
	bool		(*may_publish) (EmogiGraphSource *source);

	/* Get the table, perhaps a filtered one, whose indexes a search may use; NULL = none. */
	const EmogiSource *(*indexed) (const EmogiGraphSource *source);

	/* Estimate the number of rows. Not NULL. */
	double		(*estimate_rows) (const EmogiGraphSource *source);

	/* rows are those of tables, so that a second scan under the snapshot finds the same */
	bool		is_of_tables;
} EmogiGraphSourceKind;

/* All kinds, in the order in which they are asked. The last one takes everything. */
#define EMOGI_GRAPH_SOURCE_KINDS(KIND) \
	KIND(heaps) \
	KIND(foreign) \
	KIND(citus) \
	KIND(filtered) \
	KIND(query) \
	KIND(text)

#define EMOGI_DECLARE_KIND(name) extern const EmogiGraphSourceKind emogi_graph_source_##name;
EMOGI_GRAPH_SOURCE_KINDS(EMOGI_DECLARE_KIND)

/* ---- graph_source.c ---- */

extern void emogi_graph_source_open(EmogiCall *call, EmogiSource *resolved,
									EmogiGraphSource *source);
extern bool emogi_graph_source_peek_relation(const EmogiSource *resolved, EmogiGraphSource *source);
extern void emogi_graph_source_peek(const EmogiSource *resolved, EmogiGraphSource *source);
extern void emogi_graph_source_close(EmogiGraphSource *source);
extern const EmogiSource *emogi_graph_source_indexed(const EmogiGraphSource *source);

/* ---- heap_source.c ---- */

extern EmogiGraphSource emogi_graph_source_of_heaps(const EmogiSource *resolved, List *tables);

/* ---- foreign_source.c; also for Citus tables ---- */

extern bool emogi_graph_source_takes_remote(EmogiGraphSource *source, List *relids,
											bool (*is_remote) (Oid));
extern void emogi_graph_source_connect(EmogiCall *call, EmogiGraphSource *source);
extern void emogi_graph_source_disconnect(EmogiGraphSource *source);
extern const char *emogi_graph_source_remote_version(EmogiGraphSource *source, uint8 *fingerprint);
extern void emogi_graph_source_scan_remote(EmogiCall *call, EmogiGraphSource *source,
										   EmogiWeights weights, bool secure_hash,
										   const struct EmogiPageScans *page_scans);

/* Functions of kinds whose rows are read over connections of their own; needs remote/remote.h. */
#define EMOGI_REMOTE_SOURCE \
	.connect = emogi_graph_source_connect, \
	.disconnect = emogi_graph_source_disconnect, \
	.abort = emogi_remote_close, \
	.version = emogi_graph_source_remote_version, \
	.scan = emogi_graph_source_scan_remote, \
	.estimate_rows = emogi_graph_source_planned_rows

/* ---- query_source.c; also for filtered tables ---- */

extern void emogi_graph_source_scan_query(EmogiCall *call, EmogiGraphSource *source,
										  EmogiWeights weights, bool secure_hash,
										  const struct EmogiPageScans *page_scans);
extern bool emogi_graph_source_may_publish_query(EmogiGraphSource *source);

/* ---- text_source.c ---- */

extern EmogiGraphSource emogi_graph_source_of_text(const EmogiSource *resolved);
extern void emogi_graph_source_plan(const char *query, double *rows, double *cost);
extern double emogi_graph_source_planned_rows(const EmogiGraphSource *source);

#endif							/* EMOGI_GRAPH_SOURCE_H */
