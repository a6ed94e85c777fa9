/*
 * analysis.h: a query as a tree: what its rows depend on, and whether their Graph may be shared. Its rules have numbers, Q1 to Q18.
 *
 * emogi_analysis_open (analysis.c) takes the text of a Source to its analysed and rewritten tree, in which views are expanded and row
 * security is; argument_defaults.c fills in arguments that calls omit; constant_folding.c puts the values of what is one value for the whole call in its place; cacheability.c, with cacheability_functions.c, goes
 * through all of it and says why it may not be shared, if so; base_tables.c lists the tables that its rows lie in; fingerprint.c makes the
 * key of it. table_filter.c recognizes a tree that is one table with conditions on its rows, whose changes can be followed. analysis_run.c runs the tree itself, search_path.c tells whether names led elsewhere meanwhile, and says whether what came of it may be published. What these share is analysis_internal.h.
 */
#ifndef EMOGI_ANALYSIS_H
#define EMOGI_ANALYSIS_H

#include "nodes/params.h"
#include "nodes/parsenodes.h"

#include "cache/cache.h"
#include "source/source.h"

typedef struct EmogiQueryAnalysis
{
	const char *refusal;		/* why no Graph of it may be shared: a sentence; NULL = one may, and the rest is there */
	MemoryContext context;		/* in which all of it is */
	const char *text;
	Query	   *query;			/* folded */
	EmogiEdgeColumns columns;	/* of its result */
	bool		is_folded;		/* it has a value that another call need not have */
	uint8		fingerprint[EMOGI_FINGERPRINT_BYTES];
	uint64		shape;			/* a hash of what the fingerprint is of, but for the values of constants; not 0 */
	List	   *roots;			/* OIDs of relations that are read with their children, ... */
	List	   *alone;			/* ... of those that are read without, ... */
	List	   *relations;		/* ... of both and all children, ascending: what a plan of it may read, ... */
	List	   *leaves;			/* ... of those with rows, ascending; all are locked */
	List	   *named;			/* ... of all that are named, views too */
	List	   *functions;		/* OIDs of those that are called, but for folded ones */
	bool		is_unsafe;		/* something in it may fail in parallel mode; of a tree that was peeked at */
	const EmogiSource *source;	/* what it was made of; the caller's */
	uint64		ninvalidations; /* seen before it was analysed */
	StringInfoData versions;	/* of the rows in the catalogs that its functions are */
	uint64		nrenamings;		/* likewise, of names */
	bool		has_types;		/* the definitions of types are part of the fingerprint */
	List	   *texts;			/* char *: bodies of its functions that are text, which is analysed once more when the tree runs */
	bool		reads_elsewhere;	/* its plan reads what is not among the relations; known when it has been run */
	EmogiSource *filtered;		/* a relation with conditions that has the same edges; NULL = the query is not as simple as that (table_filter.c) */
} EmogiQueryAnalysis;

extern EmogiQueryAnalysis *emogi_analysis_open(const EmogiSource *source);
extern EmogiQueryAnalysis *emogi_analysis_peek(const EmogiSource *source);
extern void emogi_analysis_close(EmogiQueryAnalysis *tree);
extern bool emogi_analysis_filter_is_current(const EmogiSource *source);

/* ---- cacheability.c ---- */

extern const char *emogi_cacheability_elsewhere(Oid relid);

/* ---- table_filter.c ---- */

extern double emogi_table_filter_cost(const EmogiSource *source, double *nrows);

/* ---- analysis_run.c ---- */

extern int64 emogi_analysis_run(EmogiQueryAnalysis *tree, const char *select, ParamListInfo params);
extern bool emogi_analysis_may_publish(const EmogiQueryAnalysis *tree);

#endif							/* EMOGI_ANALYSIS_H */
