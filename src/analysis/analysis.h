/*
 * analysis.h: analysis of a query: what its rows depend on and whether its graph may be shared
 *
 * docs/design/queries.md has the rules Q1 to Q18.
 *
 * emogi_analysis_open (analysis.c) turns the text of a source into an analyzed and rewritten query
 * tree, with views expanded and row security applied.
 *
 * edge_filter_check.c      checks the condition on edges that a call has besides its graph
 * known_analyses.c         keeps analyses for later calls of the session, with literals.c and
 *                          environment.c
 * literal_values.c         puts other values of literals into them
 * known_costs.c            keeps the planner's estimates for them
 * argument_defaults.c      fills in omitted arguments
 * constant_folding.c       replaces expressions that have one value per call by that value
 * cacheability.c           decides whether the graph may be shared and says why not,
 *                          with cacheability_functions.c
 * base_tables.c            lists the tables that hold the rows
 * fingerprint.c            computes the cache key
 * table_filter.c           recognizes a query of one table with conditions, whose changes
 *                          can be tracked
 * analysis_run.c           runs the query and says whether its graph may be published
 * search_path.c            tells whether names resolved to other objects meanwhile
 * analysis_internal.h      state shared by these files
 */
#ifndef EMOGI_ANALYSIS_H
#define EMOGI_ANALYSIS_H

#include "nodes/params.h"
#include "nodes/parsenodes.h"

#include "cache/cache.h"
#include "source/source.h"

typedef struct EmogiQueryAnalysis
{
	const char *refusal;		/* why the graph may not be shared, a sentence; NULL = it may, and
								 * the fields below are set */
	MemoryContext context;		/* holds all of this */
	const char *text;
	Query	   *query;			/* with constants folded */
	EmogiEdgeColumns columns;	/* of the result */
	bool		is_folded;		/* a folded value may differ in another call */
	bool		has_exact_time;	/* ... and one is a time that is not rounded to seconds */
	uint8		fingerprint[EMOGI_FINGERPRINT_BYTES];
	uint8		digest[EMOGI_FINGERPRINT_BYTES];	/* of the fingerprint's input except ... */
	List	   *constants;		/* ... the values of these: Const *, in the order of the trees */
	bool		is_split;		/* that is so; otherwise the digest is of all */
	uint64		shape;			/* beginning of the digest; not 0 */
	List	   *roots;			/* OIDs of relations read with their children */
	List	   *alone;			/* OIDs of relations read without children (ONLY) */
	List	   *relations;		/* OIDs of both and of all children, ascending: all that a plan may
								 * read */
	List	   *leaves;			/* OIDs of those that hold rows, ascending; all are locked */
	List	   *named;			/* OIDs of all that are named, including views */
	List	   *functions;		/* OIDs of functions called, except folded ones */
	bool		is_unsafe;		/* parallel unsafe; not set by emogi_analysis_open */
	const EmogiSource *source;	/* the analyzed source; owned by the caller */
	uint64		ninvalidations; /* seen before the analysis */
	StringInfoData versions;	/* of the catalog rows of its functions */
	uint64		nrenamings;		/* seen before the analysis */
	bool		has_types;		/* definitions of types are part of the fingerprint */
	List	   *texts;			/* char *: function bodies that are text, which is analyzed again
								 * when the query runs */
	bool		reads_elsewhere;	/* the plan reads something that is not in relations; known
									 * after the run */
	struct EmogiKnownAnalysis *known;	/* entry that this is a copy of (known_analyses.c); NULL =
										 * none */
	EmogiSource *filtered;		/* table with conditions that has the same edges; NULL = the query
								 * is not that simple (table_filter.c) */
} EmogiQueryAnalysis;

extern EmogiQueryAnalysis *emogi_analysis_open(const EmogiSource *source);
extern EmogiQueryAnalysis *emogi_analysis_peek(const EmogiSource *source);
extern EmogiQueryAnalysis *emogi_analysis_peek_size(const EmogiSource *source);
extern EmogiQueryAnalysis *emogi_analysis_peek_known(const EmogiSource *source);
extern void emogi_analysis_close(EmogiQueryAnalysis *analysis);
extern bool emogi_analysis_filter_is_current(const EmogiSource *source);
extern bool emogi_analysis_is_unchanged(const EmogiQueryAnalysis *analysis);
extern uint64 emogi_analysis_count_changes(void);

/* ---- edge_filter_check.c ---- */

extern void emogi_edge_condition_check(const EmogiSource *source);

/* ---- known_costs.c ---- */

extern bool emogi_known_costs_get(const EmogiQueryAnalysis *analysis, double *nrows, double *cost);
extern bool emogi_known_costs_guess(const EmogiQueryAnalysis *analysis, double *nrows,
									double *cost);

/* ---- cacheability.c ---- */

extern const char *emogi_cacheability_elsewhere(Oid relid);

/* ---- table_filter.c ---- */

extern double emogi_table_filter_cost(const EmogiSource *source, double *nrows);

/* ---- analysis_run.c ---- */

extern int64 emogi_analysis_run(EmogiQueryAnalysis *analysis, const char *select,
								ParamListInfo params);
extern bool emogi_analysis_may_publish(const EmogiQueryAnalysis *analysis);

#endif							/* EMOGI_ANALYSIS_H */
